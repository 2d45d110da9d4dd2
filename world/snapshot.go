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

// A snapshot is a state and its head. Its bytes are those of [store.Checkpoint.WriteTo],
// whose Tag has position, chain, tick and program, followed by an [entry.Trailer].
type snapshot struct {
	state    store.Checkpoint
	position position
}

// copyInto copies the state between two ticks.
func (w *World) copyInto(ctx context.Context, i *snapshot) error {
	return w.store.Write(w.claim.Context(ctx), func(ctx context.Context, _ *store.Writer) error {
		if err := w.stopped(); err != nil {
			return err
		}
		i.position = w.at()
		return w.store.Checkpoint(ctx, &i.state)
	})
}

// writeTo writes the snapshot.
func (i *snapshot) writeTo(w io.Writer) error {
	h := &i.position
	i.state.SetTag(store.Tag{At: h.at, Tick: h.tick, Chain: h.chain, Program: h.Start.Program})
	if _, err := i.state.WriteTo(w); err != nil {
		return err
	}
	_, err := w.Write(h.Encode())
	return err
}

// readFrom reads a snapshot for a store.
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

// load makes the newest snapshot that can be read and that serves the state, and
// reports whether there is one. A damaged one is passed over, one of another program
// is an error.
func (w *World) load(ctx context.Context, serves func(h position) bool) (found bool, err error) {
	ctx = w.claim.Context(ctx)
	for {
		saved, err := ask(ctx, w.log, w.log.Snapshots)
		if err != nil {
			return false, fmt.Errorf("world: %w", err)
		}
		found, gone, err := w.loadFirst(ctx, saved, serves)
		if found || err != nil || !gone {
			return found, err
		}
		// Others have saved newer ones meanwhile, and removed those.
		if now, err := ask(ctx, w.log, w.log.Snapshots); err != nil || slices.Equal(now, saved) {
			return false, err
		}
	}
}

// loadFirst is load with the positions of the snapshots. It reports as well whether one
// was not there any more.
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
			return false, gone, fmt.Errorf("world: snapshot of record %d: %w: %q, and this is %q", at, ErrVersion, h.Start.Program, w.o.Version)
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

// readSnapshot reads the snapshot at this position.
func (w *World) readSnapshot(ctx context.Context, at uint64, i *snapshot) error {
	return w.openSnapshot(ctx, at, func(r io.Reader) (uint64, error) {
		err := i.readFrom(ctx, w.store, r)
		return i.position.at, err
	})
}

// verifySnapshot reads the snapshot at this position, and needs 1 MiB of memory.
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

// errDamaged means that the bytes of a snapshot are not those that were written.
var errDamaged = errors.New("damaged")

// openSnapshot has read read a snapshot, and return the position that is in it. An error
// that is not of the log, nor of ctx, is errDamaged.
func (w *World) openSnapshot(ctx context.Context, at uint64, read func(r io.Reader) (uint64, error)) error {
	r, err := w.log.Load(ctx, at)
	if err != nil {
		return err
	}
	from := source{ctx: ctx, r: r}
	is, err := read(&from)
	if err == nil && is != at {
		err = fmt.Errorf("it is that of record %d", is)
	}
	if err != nil && from.err == nil && ctx.Err() == nil && !errors.Is(err, store.ErrSchema) {
		err = fmt.Errorf("%w: %w", errDamaged, err)
	}
	return errors.Join(err, r.Close())
}

// A source keeps the error of a reader, and fails when its context has ended.
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
	image snapshot
	held  bool          // the image is of a follower, and not compared yet
	tick  uint64        // of the newest that was begun
	saved uint64        // position of the newest that the log has
	done  chan struct{} // closed when it is saved; nil: there is none
	asked chan struct{} // closed when it is known what others have saved; nil: nobody asks
	other uint64        // position of the newest that others have saved, once asked is closed
}

func (s *saver) busy() bool { return isOpen(s.done) }

// isOpen reports whether c is to be closed.
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

// wait returns when nothing is being saved, or with the cause of ctx when that ends.
func (s *saver) wait(ctx context.Context) error {
	for _, c := range []chan struct{}{s.done, s.asked} {
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

// restart counts from a tick on, when nothing is being saved. What was kept back is older,
// and is given up.
func (s *saver) restart(tick uint64) { s.tick, s.held = tick, false }

// saveIfDue copies the state if it is time for a snapshot, and has it saved while
// ticks go on.
//
// A follower keeps its copy back until the owner has told the digest of every shard behind
// it: had it saved a state that is another one, whoever recovers would begin with that.
func (w *World) saveIfDue(ctx context.Context, owner bool) {
	if w.o.Observe {
		return
	}
	s, h := &w.saver, w.at()
	due, kept, never := w.saveDue(owner)
	if never {
		return
	}
	shared := w.log.ElectionTimeout() > 0
	if shared && h.tick+max(1, uint64(w.o.SnapshotTicks)/8) == due && !isOpen(s.asked) {
		s.asked = begin(func() { w.newestSnapshot() })
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

// saveDue returns the tick that the next snapshot is due behind, and for how many ticks
// its copy is kept back before that. On a log that others may own followers save, a little
// earlier, and the owner if none has, for copying is a pause. A follower never does where
// the owner would be earlier.
func (w *World) saveDue(owner bool) (tick, kept uint64, never bool) {
	every := uint64(w.o.SnapshotTicks)
	tick = w.saver.tick + every
	if owner || w.log.ElectionTimeout() == 0 {
		return tick, 0, false
	}
	kept = uint64(w.o.DigestTicks)
	return tick - every/4, kept, kept > every/2
}

// begin has the image saved while ticks go on.
func (s *saver) begin(w *World) {
	s.tick = s.image.position.tick
	s.done = begin(func() { _ = w.save(w.life, &s.image) })
}

// begin has f done beside the ticks, and closes what it returns behind it.
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
		w.saver.other = saved[0]
	}
}

// othersSaved reports whether another World has saved a snapshot since the newest that this
// one knows of, as far as it was asked for.
func (w *World) othersSaved(h *position) bool {
	s := &w.saver
	if isOpen(s.asked) || s.other <= s.saved {
		return false
	}
	// There is at most one tick in a record. One that is ahead is of a later tick than this.
	behind := h.at - min(h.at, s.other)
	s.saved, s.tick = s.other, h.tick-min(h.tick, behind)
	w.noteSaved(s.tick)
	return true
}

// saveNow saves a snapshot before it returns.
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

// save keeps a snapshot in the log, which may then forget the records that two snapshots
// cover. The older of the two is read before: a damaged one is not one of the two.
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

// newestWhole returns the position of the newest snapshot that can be read, apart from the
// one that is to be saved, or 0. It rejects damaged ones that are newer, which would else
// count as one of the two that the log keeps.
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

// verify reads a snapshot, unless it is known to be damaged.
func (w *World) verify(ctx context.Context, at uint64) error {
	err := w.damage(at)
	if err == nil {
		if err = w.verifySnapshot(ctx, at); errors.Is(err, errDamaged) {
			w.notePassed(at, err)
		}
	}
	return err
}

// reject has the log give up a damaged snapshot, if it can.
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

// trim lets the log forget the records that two snapshots cover, of which whole is one that
// can be read.
func (w *World) trim(ctx context.Context, whole uint64) error {
	saved, err := w.log.Snapshots(ctx)
	if err != nil || len(saved) < 2 {
		return err
	}
	older := saved[1]
	if older != whole || older == 0 { // 0 is also the position of the first state
		if err := w.verify(ctx, older); err != nil {
			return fmt.Errorf("trim: snapshot of record %d: %w", older, err)
		}
	}
	return w.log.Trim(ctx, older)
}
