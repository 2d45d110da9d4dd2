package world

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
)

// A saver saves snapshots. Only the fields image, saved and size are used by a save in progress.
type saver struct {
	image  snapshot
	held   bool     // a follower's image waits to be compared
	total  progress // since Open
	base   mark     // the newest image, another World's included
	saved  uint64   // position of the newest image
	size   int64    // bytes of the newest snapshot of this World
	save   *job
	asks   *job   // newestSnapshot
	asked  uint64 // tick of asks, 0: not since base
	others uint64 // position of another World's newest, valid once asks is done
}

// A job runs in the background. A nil job is done.
type job struct {
	done chan struct{}
	err  error // valid once done is closed
}

func begin(f func() error) *job {
	j := &job{done: make(chan struct{})}
	go func() {
		defer close(j.done)
		j.err = f()
	}()
	return j
}

func (j *job) runs() bool {
	if j == nil {
		return false
	}
	select {
	case <-j.done:
		return false
	default:
		return true
	}
}

// wait returns the error of the job, or the cause of ctx if ctx ends first.
func (j *job) wait(ctx context.Context) error {
	if j == nil {
		return nil
	}
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// wait waits until no save is in progress.
func (s *saver) wait(ctx context.Context) error {
	_, _ = s.save.wait(ctx), s.asks.wait(ctx)
	if s.save.runs() || s.asks.runs() {
		return context.Cause(ctx)
	}
	return nil
}

func (s *saver) here(h *position) mark { return mark{h.at, h.tick, s.total} }

// countFrom counts from m on and drops a held image. No save may be in progress.
func (s *saver) countFrom(m mark) { s.base, s.asked, s.held = m, 0, false }

// minSnapshotBytes is the least default of Options.SnapshotBytes.
const minSnapshotBytes = 1 << 20

const (
	followerPart = 3.0 / 4 // the leader saves at 1
	askPart      = 1.0 / 8 // before a save is due, a World asks for the snapshots of others
)

// A follower holds its copy until the leader's digests confirm every shard: recovery must not
// begin with a diverged state. It saves a little earlier than the leader, because a copy is a
// pause.
func (w *World) saveIfDue(ctx context.Context, leader bool) {
	s, h := &w.saver, w.at()
	if w.o.Observe || s.save.runs() {
		return
	}
	since := s.total.since(s.base.total)
	bytes := cmp.Or(w.o.SnapshotBytes, max(minSnapshotBytes, int(min(s.size/3, math.MaxInt))))
	part := since.part(bytes, w.o.SnapshotTicks)
	each := part / float64(max(1, since.ticks()))
	shared, due, kept := w.isShared(), 1.0, uint64(0)
	if shared && !leader {
		due, kept = followerPart, uint64(w.o.DigestTicks)
	}
	ahead := each * float64(kept) // the progress while the copy is held
	leaves := ahead > 1.0/2       // to the leader, which is earlier
	if leaves {
		s.held, due, ahead = false, 1+askPart, 0
	}
	repeats := leaves && h.tick >= s.asked+kept // the leader's save may have been later
	if shared && (s.asked == 0 || repeats) && !s.asks.runs() && part+max(askPart, each) >= due {
		s.asked, s.asks = h.tick, begin(w.newestSnapshot)
	}
	switch {
	case s.held && h.tick < s.image.position.tick+kept:
	case part+ahead < due && !s.held:
	case shared && w.othersSaved(), leaves:
	case s.held:
		w.beginSave(w.save)
	case w.copyImage(ctx) != nil:
	case kept > 0:
		s.held = true
	default:
		w.beginSave(w.save)
	}
}

// copyImage copies the state for a save. If the copy fails, the next one is due later.
func (w *World) copyImage(ctx context.Context) error {
	s, h := &w.saver, w.at()
	err := w.copyInto(ctx, &s.image)
	s.image.total = s.total
	if err != nil {
		s.countFrom(s.here(&h))
		w.noteUnsaved(err)
	}
	return err
}

// beginSave calls save with the copy in the background.
func (w *World) beginSave(save func(ctx context.Context, i *snapshot) error) *job {
	s := &w.saver
	s.countFrom(mark{s.image.position.at, s.image.position.tick, s.image.total})
	s.save = begin(func() error { return save(w.life, &s.image) })
	return s.save
}

func (w *World) newestSnapshot() error {
	saved, err := w.log.Snapshots(w.life)
	if err != nil {
		w.noteUnsaved(fmt.Errorf("world: %w", err))
	}
	if len(saved) > 0 {
		w.saver.others = saved[0]
	}
	return nil
}

func (w *World) othersSaved() bool {
	s, h := &w.saver, w.at()
	if s.asks.runs() || s.others <= s.saved {
		return false
	}
	s.countFrom(s.base.towards(s.here(&h), s.others))
	s.saved = s.others
	w.noteSaved(s.base.tick, s.base.total)
	return true
}

// saveNow saves the state.
func (w *World) saveNow(ctx context.Context) error {
	if err := w.copyNow(ctx); err != nil {
		return err
	}
	return w.save(ctx, &w.saver.image)
}

// saveAfter calls save with a copy of the state in the background, unless its record has a
// snapshot. The caller has the lock.
func (w *World) saveAfter(ctx context.Context, save func(ctx context.Context, i *snapshot) error) (*job, error) {
	if w.saver.wait(ctx) == nil && w.saver.saved == w.at().at {
		return nil, nil
	}
	if err := w.copyNow(ctx); err != nil {
		return nil, err
	}
	return w.beginSave(save), nil
}

func (w *World) copyNow(ctx context.Context) error {
	if err := w.saver.wait(ctx); err != nil {
		return fmt.Errorf("world: the snapshot of record %d: %w", w.at().at, err)
	}
	return w.copyImage(ctx)
}

// save saves i and trims the log. A failed trim, which the next save repeats, is only noted.
func (w *World) save(ctx context.Context, i *snapshot) error {
	older, err := w.newestWhole(ctx, i.position.at)
	if err != nil {
		return w.unsaved(i, err)
	}
	if err := w.put(ctx, i); err != nil {
		return err
	}
	w.note(func(f *stats) { clear(f.damaged) })
	if err := w.trim(ctx, older); err != nil {
		w.noteUnsaved(fmt.Errorf("world: trim after the snapshot of record %d: %w", i.position.at, err))
	}
	return nil
}

// put saves i. It neither verifies older snapshots nor trims.
func (w *World) put(ctx context.Context, i *snapshot) error {
	if err := w.log.Save(ctx, i.position.at, i.writeTo); err != nil {
		return w.unsaved(i, err)
	}
	w.saver.saved, w.saver.size = i.position.at, i.size
	w.noteSaved(i.position.tick, i.total)
	w.note(func(f *stats) { f.savedBytes = i.size })
	return nil
}

func (w *World) unsaved(i *snapshot, err error) error {
	err = fmt.Errorf("world: the snapshot of record %d: %w", i.position.at, err)
	w.noteUnsaved(err)
	return err
}

// newestWhole returns the newest undamaged snapshot except but, or 0, and rejects newer
// damaged ones.
func (w *World) newestWhole(ctx context.Context, but uint64) (at uint64, err error) {
	saved, err := w.log.Snapshots(ctx)
	if err != nil {
		return 0, err
	}
	for _, at := range saved {
		if at == but {
			continue
		}
		switch err := w.verify(ctx, at); {
		case err == nil:
			return at, nil
		case !errors.Is(err, errDamaged):
			return 0, nil // trim asks again
		default:
			if err := w.reject(ctx, at); err != nil {
				return 0, err
			}
		}
	}
	return 0, nil
}

func (w *World) verify(ctx context.Context, at uint64) error {
	err := w.damage(at)
	if err == nil {
		if _, err = w.inspectSnapshot(ctx, at); errors.Is(err, errDamaged) {
			w.notePassed(at, err)
		}
	}
	return err
}

func (w *World) reject(ctx context.Context, at uint64) error {
	log, may := w.log.(rejecter)
	if !may {
		return nil
	}
	if err := log.Reject(ctx, at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reject the damaged snapshot of record %d: %w", at, err)
	}
	return nil
}

func (w *World) trim(ctx context.Context, whole uint64) error {
	saved, err := w.log.Snapshots(ctx)
	if err != nil || len(saved) < 2 {
		return err
	}
	older := saved[1]
	if older != whole || older == 0 { // 0 may mean none
		switch err := w.verify(ctx, older); {
		case errors.Is(err, fs.ErrNotExist): // another World has replaced it, and trims
			return nil
		case err != nil:
			return fmt.Errorf("snapshot of record %d: %w", older, err)
		}
	}
	return w.log.Trim(ctx, older)
}
