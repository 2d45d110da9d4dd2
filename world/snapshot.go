package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"handloom/internal/entry"
	"handloom/internal/image"
	"handloom/store"
)

// A snapshot is a state and its position, encoded as [store.Checkpoint.WriteTo], whose Tag has
// position, chain, tick and version, followed by an [entry.Trailer].
type snapshot struct {
	state    store.Checkpoint
	position position
}

// copyInto copies the state between two ticks.
func (w *World) copyInto(ctx context.Context, i *snapshot) error {
	return w.store.Write(w.exclusive.Context(ctx), func(ctx context.Context, _ *store.Writer) error {
		if err := w.stopped(); err != nil {
			return err
		}
		i.position = w.at()
		return w.store.Checkpoint(ctx, &i.state)
	})
}

func (i *snapshot) writeTo(w io.Writer) error {
	h := &i.position
	i.state.SetTag(store.Tag{At: h.at, Tick: h.tick, Chain: h.chain, Version: h.Start.Program})
	if _, err := i.state.WriteTo(w); err != nil {
		return err
	}
	_, err := w.Write(h.Encode())
	return err
}

func (i *snapshot) readFrom(ctx context.Context, s *store.Store, r io.Reader) error {
	if err := s.ReadCheckpoint(ctx, r, &i.state); err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(r, entry.MaxTrailer))
	if err != nil {
		return err
	}
	tag := i.state.Tag()
	i.position = position{at: tag.At, chain: tag.Chain, tick: tag.Tick}
	return i.position.Decode(b)
}

// load loads the newest readable snapshot that serves accepts, and reports whether
// there is one. It skips damaged snapshots. A snapshot of another version is an error.
func (w *World) load(ctx context.Context, serves func(h position) bool) (found bool, err error) {
	ctx = w.exclusive.Context(ctx)
	for {
		saved, err := ask(ctx, w.log, w.log.Snapshots)
		if err != nil {
			return false, fmt.Errorf("world: %w", err)
		}
		found, gone, err := w.loadFirst(ctx, saved, serves)
		if found || err != nil || !gone {
			return found, err
		}
		// Others have saved newer snapshots meanwhile, and dropped these.
		if now, err := ask(ctx, w.log, w.log.Snapshots); err != nil || slices.Equal(now, saved) {
			return false, err
		}
	}
}

// loadFirst is one attempt of load. It also reports whether a snapshot had been dropped.
func (w *World) loadFirst(ctx context.Context, saved []uint64, serves func(h position) bool) (found, gone bool, err error) {
	for _, at := range saved {
		var i snapshot
		if err := w.readSnapshot(ctx, at, &i); err != nil {
			if ctx.Err() != nil {
				return false, gone, context.Cause(ctx)
			}
			if errors.Is(err, store.ErrSchema) {
				return false, gone, fmt.Errorf("world: snapshot of record %d: %w: %w", at, ErrVersion, err)
			}
			gone = gone || errors.Is(err, fs.ErrNotExist)
			w.notePassed(at, err)
			continue
		}
		h := i.position
		if !serves(h) {
			continue
		}
		if h.at > 0 && h.Start.Program != w.o.Version && (!h.Handed || h.To != w.o.Version) {
			return false, gone, fmt.Errorf("world: snapshot of record %d: %w: got %q, want %q", at, ErrVersion, h.Start.Program, w.o.Version)
		}
		if err := w.saver.wait(ctx); err != nil {
			return false, gone, err
		}
		if err := w.store.Rollback(context.WithoutCancel(ctx), &i.state); err != nil {
			return false, gone, fmt.Errorf("world: snapshot of record %d: %w", at, err)
		}
		w.setPosition(h)
		w.saver.restart(h.tick)
		w.saver.saved = h.at
		w.noteSaved(h.tick)
		return true, gone, nil
	}
	return false, gone, nil
}

func (w *World) readSnapshot(ctx context.Context, at uint64, i *snapshot) error {
	return w.openSnapshot(ctx, at, func(r io.Reader) (uint64, error) {
		err := i.readFrom(ctx, w.store, r)
		return i.position.at, err
	})
}

// verifySnapshot reads the snapshot at this position, with 1 MiB of memory.
func (w *World) verifySnapshot(ctx context.Context, at uint64) error {
	return w.openSnapshot(ctx, at, func(r io.Reader) (uint64, error) {
		info, err := image.Inspect(r)
		if err != nil {
			return 0, err
		}
		b, err := io.ReadAll(io.LimitReader(r, entry.MaxTrailer))
		if err == nil {
			err = new(entry.Trailer).Decode(b)
		}
		return info.Tag.At, err
	})
}

// errDamaged means that a snapshot differs from the bytes written.
var errDamaged = errors.New("damaged")

// openSnapshot opens a snapshot for read, which returns the position inside. Errors of neither
// the log nor ctx are errDamaged.
func (w *World) openSnapshot(ctx context.Context, at uint64, read func(r io.Reader) (uint64, error)) error {
	r, err := w.log.Load(ctx, at)
	if err != nil {
		return err
	}
	from := source{ctx: ctx, r: r}
	is, err := read(&from)
	if err == nil && is != at {
		err = fmt.Errorf("contains record %d", is)
	}
	if err != nil && from.err == nil && ctx.Err() == nil && !errors.Is(err, store.ErrSchema) {
		err = fmt.Errorf("%w: %w", errDamaged, err)
	}
	return errors.Join(err, r.Close())
}

// A source keeps the error of its reader, and fails after its context has ended.
type source struct {
	ctx context.Context
	r   io.Reader
	err error
}

func (s *source) Read(b []byte) (n int, err error) {
	if s.err = context.Cause(s.ctx); s.err != nil {
		return 0, s.err
	}
	if n, err = s.r.Read(b); err != io.EOF {
		s.err = err
	}
	return n, err
}

// A saver saves snapshots, one at a time.
type saver struct {
	image        snapshot
	held         bool          // a follower's image waits to be compared
	tick         uint64        // tick of the newest image
	saved        uint64        // position of the newest snapshot
	done         chan struct{} // closed after the save; nil: no save yet
	newestKnown  chan struct{} // closed after newestSnapshot; nil: not called yet
	othersNewest uint64        // position of the newest snapshot of another World, valid once newestKnown is closed
}

func (s *saver) busy() bool { return isOpen(s.done) }

// isOpen reports whether c is not nil and not closed.
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

// wait waits until nothing is being saved, or returns the cause of ctx when it ends.
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

// restart counts from tick on, and drops a held image. Nothing may be in progress.
func (s *saver) restart(tick uint64) { s.tick, s.held = tick, false }

// saveIfDue copies the state if a snapshot is due, and saves it in the background.
//
// A follower holds its copy until the leader's digests have confirmed every shard: recovery
// would begin with a diverged state otherwise.
func (w *World) saveIfDue(ctx context.Context, leader bool) {
	if w.o.Observe {
		return
	}
	s, h := &w.saver, w.at()
	due, kept, never := w.saveDue(leader)
	if never {
		return
	}
	shared := w.log.ElectionTimeout() > 0
	if shared && h.tick+max(1, uint64(w.o.SnapshotTicks)/8) == due && !isOpen(s.newestKnown) {
		s.newestKnown = begin(func() { w.newestSnapshot() })
	}
	switch {
	case s.busy() || h.tick+kept < due:
	case s.held && h.tick < s.image.position.tick+kept: // not compared yet
	case s.held:
		s.held = false
		if !w.othersSaved(&h) {
			s.begin(w)
		}
	case shared && kept == 0 && w.othersSaved(&h):
	default:
		if err := w.copyInto(ctx, &s.image); err != nil {
			s.tick = h.tick
			w.noteUnsaved(err)
			return
		}
		if s.held = kept > 0; !s.held {
			s.begin(w)
		}
	}
}

// saveDue returns the tick of the next snapshot, and for how many ticks a follower holds the
// copy. On a shared log followers save a little earlier than the leader, because a copy is a
// pause. never: a follower would be later than the leader.
func (w *World) saveDue(leader bool) (tick, kept uint64, never bool) {
	every := uint64(w.o.SnapshotTicks)
	tick = w.saver.tick + every
	if leader || w.log.ElectionTimeout() == 0 {
		return tick, 0, false
	}
	kept = uint64(w.o.DigestTicks)
	return tick - every/4, kept, kept > every/2
}

// begin saves the image in the background.
func (s *saver) begin(w *World) {
	s.tick = s.image.position.tick
	s.done = begin(func() { _ = w.save(w.life, &s.image) })
}

// begin runs f in the background and closes the channel after it.
func begin(f func()) chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	return done
}

// newestSnapshot asks the log for the newest snapshot.
func (w *World) newestSnapshot() {
	saved, err := w.log.Snapshots(w.life)
	if err != nil {
		w.noteUnsaved(fmt.Errorf("world: %w", err))
	}
	if len(saved) > 0 {
		w.saver.othersNewest = saved[0]
	}
}

// othersSaved reports whether another World has saved a newer snapshot.
func (w *World) othersSaved(h *position) bool {
	s := &w.saver
	if isOpen(s.newestKnown) || s.othersNewest <= s.saved {
		return false
	}
	// A record has at most one tick, so this tick is at or before the snapshot's.
	behind := h.at - min(h.at, s.othersNewest)
	s.saved, s.tick = s.othersNewest, h.tick-min(h.tick, behind)
	w.noteSaved(s.tick)
	return true
}

// saveNow saves a snapshot and waits for it.
func (w *World) saveNow(ctx context.Context) error {
	s := &w.saver
	if err := s.wait(ctx); err != nil {
		return fmt.Errorf("world: the snapshot of record %d: %w", w.at().at, err)
	}
	s.restart(w.at().tick)
	if err := w.copyInto(ctx, &s.image); err != nil {
		w.noteUnsaved(err)
		return err
	}
	return w.save(ctx, &s.image)
}

// save saves a snapshot and trims the records before the last two. The older of the two is
// verified first: a damaged one does not count.
func (w *World) save(ctx context.Context, i *snapshot) error {
	older, err := w.newestWhole(ctx, i.position.at)
	if err == nil {
		err = w.log.Save(ctx, i.position.at, i.writeTo)
	}
	if err == nil {
		w.saver.saved = i.position.at
		w.noteSaved(i.position.tick)
		w.forgetDamage()
		err = w.trim(ctx, older)
	}
	if err != nil {
		err = fmt.Errorf("world: the snapshot of record %d: %w", i.position.at, err)
		w.noteUnsaved(err)
	}
	return err
}

// newestWhole returns the position of the newest undamaged snapshot except but, or 0. It
// rejects newer damaged snapshots, which the log would count as one of its two.
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

// verify reads a snapshot unless it is known to be damaged.
func (w *World) verify(ctx context.Context, at uint64) error {
	err := w.damage(at)
	if err == nil {
		if err = w.verifySnapshot(ctx, at); errors.Is(err, errDamaged) {
			w.notePassed(at, err)
		}
	}
	return err
}

// reject drops a damaged snapshot if the log has Reject.
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

// trim drops the records before the second newest snapshot. The snapshot at whole is known to
// be readable.
func (w *World) trim(ctx context.Context, whole uint64) error {
	saved, err := w.log.Snapshots(ctx)
	if err != nil || len(saved) < 2 {
		return err
	}
	older := saved[1]
	if older != whole || older == 0 { // 0 may mean none
		if err := w.verify(ctx, older); err != nil {
			return fmt.Errorf("trim: snapshot of record %d: %w", older, err)
		}
	}
	return w.log.Trim(ctx, older)
}
