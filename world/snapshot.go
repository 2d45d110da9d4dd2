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

// A snapshot is encoded as [store.Checkpoint.WriteTo], whose Tag has position, chain, tick and
// version, and an [entry.Trailer].
type snapshot struct {
	state    store.Checkpoint
	position position
}

func (w *World) copyInto(ctx context.Context, i *snapshot) error {
	return w.exclusive.Hold(ctx, func(ctx context.Context) error {
		if err := w.stopped(); err != nil {
			return err
		}
		i.position = w.at()
		return w.store.Checkpoint(ctx, &i.state)
	})
}

func (i *snapshot) writeTo(w io.Writer) error {
	h := &i.position
	i.state.SetTag(store.Tag{At: h.at, Tick: h.tick, Chain: h.chain, Version: h.Start.Version})
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

// load loads the newest readable snapshot that serves accepts. One of another version is an
// error.
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
		// The snapshots were dropped because newer ones were saved.
		if now, err := ask(ctx, w.log, w.log.Snapshots); err != nil || slices.Equal(now, saved) {
			return false, err
		}
	}
}

// loadFirst is one attempt of load. gone: a snapshot had been dropped.
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
		if h.at > 0 && h.Start.Version != w.o.Version && (!h.Handed || h.To != w.o.Version) {
			return false, gone, fmt.Errorf("world: snapshot of record %d: %w: got %q, want %q", at, ErrVersion, h.Start.Version, w.o.Version)
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

var errDamaged = errors.New("damaged")

// openSnapshot calls read, which returns the position inside. Errors of neither log nor ctx are
// errDamaged.
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

type saver struct {
	image        snapshot
	held         bool          // a follower's image waits to be compared
	tick         uint64        // tick of the newest image
	saved        uint64        // its position
	done         chan struct{} // closed after the save; nil: no save yet
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

// restart counts from tick on and drops a held image. Nothing may be in progress.
func (s *saver) restart(tick uint64) { s.tick, s.held = tick, false }

// A follower holds its copy until the leader's digests confirm every shard: recovery must not
// begin with a diverged state.
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
	case s.held && h.tick < s.image.position.tick+kept:
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

// saveDue returns the tick of the next snapshot, and how long a follower holds its copy. On a
// shared log followers save a little earlier than the leader, because a copy is a pause. never:
// the leader would be earlier.
func (w *World) saveDue(leader bool) (tick, kept uint64, never bool) {
	every := uint64(w.o.SnapshotTicks)
	tick = w.saver.tick + every
	if leader || w.log.ElectionTimeout() == 0 {
		return tick, 0, false
	}
	kept = uint64(w.o.DigestTicks)
	return tick - every/4, kept, kept > every/2
}

func (s *saver) begin(w *World) {
	s.tick = s.image.position.tick
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

func (w *World) othersSaved(h *position) bool {
	s := &w.saver
	if isOpen(s.newestKnown) || s.othersNewest <= s.saved {
		return false
	}
	// A record has at most one tick.
	behind := h.at - min(h.at, s.othersNewest)
	s.saved, s.tick = s.othersNewest, h.tick-min(h.tick, behind)
	w.noteSaved(s.tick)
	return true
}

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
		if err = w.verifySnapshot(ctx, at); errors.Is(err, errDamaged) {
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
		if err := w.verify(ctx, older); err != nil {
			return fmt.Errorf("trim: snapshot of record %d: %w", older, err)
		}
	}
	return w.log.Trim(ctx, older)
}
