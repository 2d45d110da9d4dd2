package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"handloom/internal/entrance"
	"handloom/internal/entry"
	"handloom/internal/image"
	"handloom/store"
)

// A snapshot is encoded as [store.Checkpoint.WriteTo], whose Tag has position, chain, tick and
// version, and an [entry.Trailer].
type snapshot struct {
	state    store.Checkpoint
	position position
	size     int64    // bytes, once written or read
	total    progress // until the position
}

func (w *World) copyInto(ctx context.Context, i *snapshot) error {
	return w.exclusive.Hold(ctx, func(ctx context.Context, _ *store.Writer) error {
		if err := w.stopped(); err != nil {
			return err
		}
		i.position = w.at()
		return w.store.Checkpoint(ctx, &i.state)
	})
}

func (i *snapshot) writeTo(w io.Writer) error {
	h := &i.position
	*i.state.Entrance(entrance.Key{}) = image.Tag{At: h.at, Tick: h.tick, Chain: h.chain, Version: h.Start.Version}
	n, err := i.state.WriteTo(w)
	if err != nil {
		return err
	}
	trailer, err := w.Write(h.Encode())
	i.size = n + int64(trailer)
	return err
}

// readFrom reads only the header, and sets record and tick, if serves refuses these.
func (i *snapshot) readFrom(ctx context.Context, s *store.Store, from *source, serves func(h position) bool) error {
	var head bytes.Buffer
	h, err := image.NewReader(ctx, io.TeeReader(from, &head)).Header()
	if from.err != nil {
		return from.err
	}
	i.position = position{at: h.Tag.At, tick: h.Tag.Tick}
	if err == nil && !serves(i.position) {
		return nil
	}
	r := io.MultiReader(&head, from)
	if err := s.ReadCheckpoint(ctx, r, &i.state); err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(r, entry.MaxTrailer))
	if err != nil {
		return err
	}
	tag := i.state.Entrance(entrance.Key{})
	i.position = position{at: tag.At, chain: tag.Chain, tick: tag.Tick}
	return i.position.Decode(b)
}

// A silentError means that the log did not answer.
type silentError struct{ error }

func (e silentError) Unwrap() error { return e.error }

// load loads the newest readable snapshot that serves accepts. One of another version is an
// error.
func (w *World) load(ctx context.Context, serves func(h position) bool) (found bool, err error) {
	ctx = w.exclusive.Context(ctx)
	for attempt := 1; ; attempt++ {
		saved, err := ask(ctx, w.log, w.log.Snapshots)
		if err != nil {
			return false, silentError{fmt.Errorf("world: %w", err)}
		}
		found, gone, err := w.loadFirst(ctx, saved, serves)
		if found || err != nil || !gone {
			return found, err
		}
		// Newer snapshots replaced them, or another node's of the same record.
		switch now, err := ask(ctx, w.log, w.log.Snapshots); {
		case err != nil:
			return false, silentError{fmt.Errorf("world: %w", err)}
		case slices.Equal(now, saved) && attempt >= maxReplaced:
			return false, nil
		}
	}
}

// maxReplaced is the number of nodes that may save the snapshot of one record while a node
// opens it; all nodes save the first one if they start together.
const maxReplaced = 10

// loadFirst is one attempt of load. gone: a snapshot had been dropped.
func (w *World) loadFirst(ctx context.Context, saved []uint64, serves func(h position) bool) (found, gone bool, err error) {
	for _, at := range saved {
		var i snapshot
		err := w.readSnapshot(ctx, at, &i, serves)
		gone = gone || errors.Is(err, fs.ErrNotExist)
		h := i.position
		if err == nil {
			if !serves(h) {
				continue
			}
			err = w.verifyIdle(ctx, &h)
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return false, gone, context.Cause(ctx)
		case errors.Is(err, store.ErrSchema):
			return false, gone, fmt.Errorf("world: snapshot of record %d: %w: %w", at, ErrVersion, err)
		default: // an older snapshot leads to the same state, by more ticks
			w.notePassed(at, err)
			continue
		}
		if h.at > 0 && h.Start.Version != w.o.Version && (!h.Handed || h.To != w.o.Version) {
			return false, gone, fmt.Errorf("world: snapshot of record %d: %w: got %q, want %q", at, errOther, h.Start.Version, w.o.Version)
		}
		if err := w.saver.wait(ctx); err != nil {
			return false, gone, err
		}
		if err := w.store.Rollback(context.WithoutCancel(ctx), &i.state); err != nil {
			return false, gone, fmt.Errorf("world: snapshot of record %d: %w", at, err)
		}
		w.change(event{kind: imageLoaded, role: &follower{ran: w.ran()}, position: &h, calls: store.ErrUncertain})
		w.saver.countFrom(w.saver.here(&h))
		w.saver.saved, w.saver.size = h.at, i.size
		w.ticked = time.Now()
		w.noteSaved(h.tick, w.saver.total)
		w.note(func(f *stats) { f.savedBytes = i.size })
		return true, gone, nil
	}
	return false, gone, nil
}

func (w *World) readSnapshot(ctx context.Context, at uint64, i *snapshot, serves func(h position) bool) error {
	return w.openSnapshot(ctx, at, func(r *source) (uint64, error) {
		err := i.readFrom(ctx, w.store, r, serves)
		i.size = r.size
		return i.position.at, err
	})
}

func (w *World) inspectSnapshot(ctx context.Context, at uint64) (t entry.Trailer, err error) {
	err = w.openSnapshot(ctx, at, func(r *source) (uint64, error) {
		info, err := image.Inspect(r)
		if err != nil {
			return 0, err
		}
		b, err := io.ReadAll(io.LimitReader(r, entry.MaxTrailer))
		if err == nil {
			err = t.Decode(b)
		}
		return info.Tag.At, err
	})
	return t, err
}

var errDamaged = errors.New("damaged")

// openSnapshot calls read, which returns the position inside. Errors of neither log nor ctx are
// errDamaged.
func (w *World) openSnapshot(ctx context.Context, at uint64, read func(r *source) (uint64, error)) error {
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
	ctx  context.Context
	r    io.Reader
	size int64 // bytes read so far
	err  error
}

func (s *source) Read(b []byte) (n int, err error) {
	if s.err = context.Cause(s.ctx); s.err != nil {
		return 0, s.err
	}
	if n, err = s.r.Read(b); err != io.EOF {
		s.err = err
	}
	s.size += int64(n)
	return n, err
}
