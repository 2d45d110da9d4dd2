package world

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"
)

// A saver saves snapshots. Only the fields image, saved and size are used by a save in progress.
type saver struct {
	image        snapshot
	held         bool     // a follower's image waits to be compared
	total        progress // since Open
	base         progress // total at the newest image, another World's included
	tick         uint64   // its tick
	marks        []mark
	saved        uint64        // position of the newest image
	size         int64         // bytes of the newest snapshot of this World
	done         chan struct{} // closed after the save; nil: no save yet
	asked        bool          // newestSnapshot was called since base
	newestKnown  chan struct{} // closed after newestSnapshot; nil: not called yet
	othersNewest uint64        // position of another World's newest, valid once newestKnown is closed
}

func (s *saver) busy() bool { return isOpen(s.done) }

func isOpen(c chan struct{}) bool {
	if c == nil {
		return false
	}
	select {
	case <-c:
		return false
	default:
		return true
	}
}

func (s *saver) wait(ctx context.Context) error {
	for _, c := range []chan struct{}{s.done, s.newestKnown} {
		if !isOpen(c) {
			continue
		}
		select {
		case <-c:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// restart counts from here on and drops a held image. Nothing may be in progress.
func (s *saver) restart(tick uint64) {
	s.countFrom(tick, s.total)
	s.held, s.marks = false, nil
}

func (s *saver) countFrom(tick uint64, total progress) { s.tick, s.base, s.asked = tick, total, false }

// minSnapshotBytes is the least default of Options.SnapshotBytes.
const minSnapshotBytes = 1 << 20

// snapshotBytes returns the bytes of records after which a snapshot is due. No save may be in
// progress.
func (w *World) snapshotBytes() int {
	return cmp.Or(w.o.SnapshotBytes, max(minSnapshotBytes, int(min(w.saver.size/3, math.MaxInt))))
}

const (
	followerPart = 3.0 / 4 // the leader saves at 1
	askPart      = 1.0 / 8 // before a save is due, a World asks for the snapshots of others
)

// A follower holds its copy until the leader's digests confirm every shard: recovery must not
// begin with a diverged state. It saves a little earlier than the leader, because a copy is a
// pause.
func (w *World) saveIfDue(ctx context.Context, leader bool) {
	s, h := &w.saver, w.at()
	if w.o.Observe || s.busy() {
		return
	}
	bytes, ticks := w.snapshotBytes(), w.o.SnapshotTicks
	marked := s.mark(&h, bytes, ticks)
	since := s.total.since(s.base)
	part := since.part(bytes, ticks)
	each := part / float64(max(1, since.ticks()))
	shared := w.log.ElectionTimeout() > 0
	due, kept := 1.0, uint64(0)
	if shared && !leader {
		due, kept = followerPart, uint64(w.o.DigestTicks)
	}
	ahead := each * float64(kept) // the progress while the copy is held
	leaves := ahead > 1.0/2       // to the leader, which is earlier
	if leaves {
		s.held, due = false, 1+askPart
		s.asked = s.asked && !marked // the leader's save may have been later
	}
	if shared && !s.asked && !isOpen(s.newestKnown) && part+max(askPart, each) >= due {
		s.asked, s.newestKnown = true, begin(func() { w.newestSnapshot() })
	}
	switch {
	case leaves:
		w.othersSaved()
	case s.held && h.tick < s.image.position.tick+kept:
	case s.held:
		s.held = false
		if !w.othersSaved() {
			s.begin(w)
		}
	case part+ahead < due:
	case shared && w.othersSaved():
	default:
		if err := w.copyImage(ctx); err != nil {
			s.countFrom(h.tick, s.total)
			w.noteUnsaved(err)
			return
		}
		if s.held = kept > 0; !s.held {
			s.begin(w)
		}
	}
}

// copyImage copies the state for a save.
func (w *World) copyImage(ctx context.Context) error {
	i, begun := &w.saver.image, time.Now()
	err := w.copyInto(ctx, i)
	i.total, i.took = w.saver.total, time.Since(begun)
	return err
}

func (s *saver) begin(w *World) {
	s.countFrom(s.image.position.tick, s.image.total)
	s.done = begin(func() { _ = w.save(w.life, &s.image) })
}

func begin(f func()) chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	return done
}

func (w *World) newestSnapshot() {
	saved, err := w.log.Snapshots(w.life)
	if err != nil {
		w.noteUnsaved(fmt.Errorf("world: %w", err))
	}
	if len(saved) > 0 {
		w.saver.othersNewest = saved[0]
	}
}

func (w *World) othersSaved() bool {
	s := &w.saver
	if isOpen(s.newestKnown) || s.othersNewest <= s.saved {
		return false
	}
	m := s.markOf(s.othersNewest)
	s.countFrom(m.tick, m.total)
	s.saved = s.othersNewest
	w.noteSaved(m.tick, m.total)
	return true
}

func (w *World) saveNow(ctx context.Context) error {
	s := &w.saver
	if err := s.wait(ctx); err != nil {
		return fmt.Errorf("world: the snapshot of record %d: %w", w.at().at, err)
	}
	s.restart(w.at().tick)
	if err := w.copyImage(ctx); err != nil {
		w.noteUnsaved(err)
		return err
	}
	return w.save(ctx, &s.image)
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
	w.note(func(f *stats) { f.damaged = nil })
	if err := w.trim(ctx, older); err != nil {
		w.noteUnsaved(fmt.Errorf("world: trim after the snapshot of record %d: %w", i.position.at, err))
	}
	return nil
}

// put saves i. It neither verifies older snapshots nor trims.
func (w *World) put(ctx context.Context, i *snapshot) error {
	begun := time.Now()
	if err := w.log.Save(ctx, i.position.at, i.writeTo); err != nil {
		return w.unsaved(i, err)
	}
	w.saver.saved, w.saver.size = i.position.at, i.size
	w.noteSaved(i.position.tick, i.total)
	w.note(func(f *stats) { f.saveTook, f.savedBytes = i.took+time.Since(begun), i.size })
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
