package store_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"handloom/batch"
	"handloom/store"
)

func virtual(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

type call struct {
	done chan struct{}
	err  error
}

func begin(f func() error) *call {
	c := &call{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.err = f()
	}()
	return c
}

// waits fails the test unless the call is still running while all others are blocked.
func (c *call) waits(t *testing.T, what string) {
	t.Helper()
	synctest.Wait()
	select {
	case <-c.done:
		t.Errorf("%s did not wait: %v", what, c.err)
	default:
	}
}

func (c *call) result() error {
	<-c.done
	return c.err
}

func hold(t *testing.T, s *store.Store) (release func()) {
	t.Helper()
	return held(t, func(wait func()) error {
		return s.Read(context.Background(), func(context.Context) error { wait(); return nil })
	})
}

func holdAlone(t *testing.T, s *store.Store) (release func()) {
	t.Helper()
	return held(t, func(wait func()) error {
		return s.Write(context.Background(), func(*store.Writer) { wait() })
	})
}

func held(t *testing.T, phase func(wait func()) error) (release func()) {
	stop := make(chan struct{})
	c := begin(func() error { return phase(func() { <-stop }) })
	synctest.Wait()
	return func() {
		t.Helper()
		close(stop)
		wantError(t, "", c.result(), nil)
	}
}

var shared = map[string]bool{"Read": true, "Reduce": true, "Digest": true, "Verify": true}

func TestGate_ReadingPhasesShareIt(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		fill(t, s, table, 10)
		for what, phase := range phases(s, table) {
			for beside, hold := range map[string]func(*testing.T, *store.Store) func(){"Read": hold, "Write": holdAlone} {
				release := hold(t, s)
				c := begin(func() error { return phase(context.Background()) })
				if shared[what] && beside == "Read" {
					_ = c.result()
				} else {
					c.waits(t, what+" beside a "+beside)
				}
				release()
				wantError(t, what+" beside a "+beside, c.result(), nil)
			}
		}
	})
}

func TestGate_WaitEndsWithTheContext(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		fill(t, s, table, 10)
		late := errors.New("too late")
		release := holdAlone(t, s)
		for what, phase := range phases(s, table) {
			ctx, cancel := context.WithTimeoutCause(context.Background(), time.Hour, late)
			wantError(t, what, phase(ctx), late)
			cancel()
		}
		release()
		usable(t, s, table)
	})
}

func TestPass_RunsNoTaskAfterItsContextEnded(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{ChunkItems: 1})
	fill(t, s, table, 4)
	check := func(ctx context.Context) {
		t.Helper()
		each := s.Each(ctx, 4, func(int, store.Queue) { t.Error("a task of Each ran") })
		forEach := table.ForEach(ctx, func(store.Chunk[item]) { t.Error("a task of ForEach ran") })
		wantError(t, "Each", each, context.Canceled)
		wantError(t, "ForEach", forEach, context.Canceled)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	check(cancelled)
	check(ended{t.Context()})
	runFrame(t, s, func(ctx context.Context, _ *store.Writer) error {
		check(ended{ctx})
		return nil
	})
}

// Open Reads and calls that wait for them do not block recording.
func TestGate_QueuesIgnoreReaders(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		record := func() {
			t.Helper()
			table.Emplace(queues(t, s, 1)[0], item{})
			wantError(t, "", s.Discard(), nil)
			table.Emplace(queues(t, s, 1)[0], item{})
		}
		var order []string
		note := func(what string) *call {
			c := begin(func() error {
				return s.Write(context.Background(), func(*store.Writer) { order = append(order, what) })
			})
			c.waits(t, what)
			return c
		}
		release := hold(t, s)
		record()
		first := note("first")
		record()
		second := note("second")
		record()
		release()
		wantError(t, "both calls", errors.Join(first.result(), second.result()), nil)
		equalLists(t, "order", order, "first", "second")
		noError(t, s.Read(t.Context(), func(context.Context) error {
			note("third")
			record()
			return nil
		}))
		synctest.Wait()
		release = holdAlone(t, s)
		_, refused := s.Queues(1)
		wantError(t, "beside a Write", refused, store.ErrPhase)
		wantError(t, "beside a Write", s.Discard(), store.ErrPhase)
		release()
		wantFlush(t, s, batch.Counts{Created: 1})
	})
}

func TestContext_PhasesOfTwoStoresDoNotMix(t *testing.T) {
	atOnce(t, func(t *testing.T) {
		a, tableA := newTable(t, store.Options{}, store.TableOptions[item]{})
		b, tableB := newTable(t, store.Options{}, store.TableOptions[item]{})
		fill(t, a, tableA, 1)
		fill(t, b, tableB, 1)
		noError(t, a.Read(t.Context(), func(ctx context.Context) error {
			for what, phase := range phases(b, tableB) {
				wantError(t, what+" of another store inside a Read", phase(ctx), nil)
			}
			return onlyError(b.Frame(ctx, func(ctx context.Context, _ *store.Writer) error {
				wantError(t, "Reduce inside the Read, through a Write of another store", onlyError(sum(ctx, tableA)), nil)
				wantError(t, "Flush inside the Read", onlyError(a.Flush(ctx)), store.ErrPhase)
				return nil
			}))
		}))
	})
}
