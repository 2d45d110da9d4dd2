package store_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"sync"
	"testing"

	"handloom/batch"
	"handloom/store"
)

func TestRollback_RefusesUnusableCheckpoints(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	fill(t, s, table, 3)
	stranger, _ := newTable(t, store.Options{}, store.TableOptions[item]{})
	var zero, foreign store.Checkpoint
	checkpoint(t, stranger, &foreign)
	q := queues(t, s, 1)[0]
	p := table.Emplace(q, item{})
	before := digest(t, s)
	for says, call := range map[string]func() error{
		"empty":                    func() error { return s.Rollback(t.Context(), &zero) },
		"another store":            func() error { return s.Rollback(t.Context(), &foreign) },
		"nil":                      func() error { return s.Rollback(t.Context(), nil) },
		"belongs to another store": func() error { return s.Checkpoint(t.Context(), &foreign) },
		"the address of one":       func() error { return s.Checkpoint(t.Context(), nil) },
		"no Checkpoint into":       func() error { return onlyError(zero.WriteTo(io.Discard)) },
	} {
		wantError(t, "", call(), store.ErrCheckpoint, says)
	}
	equal(t, "digest", digest(t, s), before)
	equal(t, "s.Epoch", s.Epoch(), 1)
	wantError(t, "to the other store the checkpoint is good no more", stranger.Rollback(t.Context(), &foreign), nil)
	table.Emplace(q, item{}) // the batch is still open
	wantFlush(t, s, batch.Counts{Created: 2})
	resolve(t, table, p)
}

// While a call uses a checkpoint, every other call refuses it and leaves it whole.
func TestCheckpoint_ServesOneCall(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	fill(t, s, table, 3)
	before := digest(t, s)
	file := image(t, s)
	var c store.Checkpoint
	checkpoint(t, s, &c)
	fill(t, s, table, 5)
	var written bytes.Buffer
	_, err := c.WriteTo(writerFunc(func(b []byte) (int, error) {
		for name, call := range map[string]func() error{
			"Checkpoint":     func() error { return s.Checkpoint(t.Context(), &c) },
			"Rollback":       func() error { return s.Rollback(t.Context(), &c) },
			"ReadCheckpoint": func() error { return s.ReadCheckpoint(t.Context(), bytes.NewReader(file), &c) },
			"WriteTo":        func() error { return onlyError(c.WriteTo(io.Discard)) },
		} {
			wantError(t, name, call(), store.ErrCheckpoint, "another call uses it")
		}
		return written.Write(b)
	}))
	noError(t, err)
	equal(t, "items", table.Len(), 8)
	for _, back := range []func() error{
		func() error { return s.Rollback(t.Context(), &c) },
		func() error { return s.Load(t.Context(), &written) },
	} {
		fill(t, s, table, 1)
		noError(t, back())
		equal(t, "digest", digest(t, s), before)
	}
}

func TestCheckpoint_EndedContextChangesNothing(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	fill(t, s, table, 3)
	var c store.Checkpoint
	checkpoint(t, s, &c)
	old := digest(t, s)
	fill(t, s, table, 3)
	before := digest(t, s)
	table.Emplace(queues(t, s, 1)[0], item{})
	ctx := ended{t.Context()} // ends after the gate is taken
	wantError(t, "Checkpoint", s.Checkpoint(ctx, &c), context.Canceled)
	wantError(t, "Rollback", s.Rollback(ctx, &c), context.Canceled)
	equal(t, "digest", digest(t, s), before)
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(errTask)
	wantError(t, "Rollback", s.Rollback(cancelled, &c), errTask)
	equal(t, "digest", digest(t, s), before)
	wantFlush(t, s, batch.Counts{Created: 1})
	rollback(t, s, &c)
	equal(t, "digest after a Checkpoint that did not begin", digest(t, s), old)
}

func TestRollback_InsideAWriteUndoesTheTick(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 3}, store.TableOptions[item]{Shards: 2, ChunkItems: 3})
	fill(t, s, table, 50)
	before := digest(t, s)
	var c store.Checkpoint
	_, err := s.Frame(t.Context(), func(ctx context.Context, w *store.Writer) error {
		noError(t, s.Checkpoint(ctx, &c))
		for range 3 {
			err := table.ForEach(ctx, func(c store.Chunk[item]) {
				c.Erase(0)
				table.Emplace(c.Queue, c.Items[0])
				c.Queue.Fail(s.Rollback(ctx, new(store.Checkpoint)))
			})
			wantError(t, "Rollback beside a pass", err, store.ErrPhase)
			table.Insert(w, item{})
			_, err = s.Flush(ctx)
			err = errors.Join(err, store.SortFunc(ctx, table, w, func(a, b *item) int { return int(b.Value) - int(a.Value) }))
			if err := errors.Join(err, s.Rollback(ctx, &c)); err != nil {
				return err
			}
			equal(t, "items", table.Len(), 50)
			equal(t, "Live", s.Stats().Tables[0].Live, 50)
		}
		return nil
	})
	wantError(t, "the call", err, nil)
	equal(t, "digest", digest(t, s), before)
}

func TestCheckpoint_GoVetReportsCopies(t *testing.T) {
	for f := range reflect.TypeFor[store.Checkpoint]().Fields() {
		locker := reflect.TypeFor[sync.Locker]()
		if reflect.PointerTo(f.Type).Implements(locker) && !f.Type.Implements(locker) {
			return
		}
	}
	t.Error("no field looks like a lock")
}
