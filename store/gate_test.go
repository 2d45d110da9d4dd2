package store_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
)

// virtual runs a test under virtual time, where waiting takes none.
func virtual(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// call is a call that runs on a goroutine of its own.
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

// waits fails the test unless the call is still running when nothing moves.
func (c *call) waits(t *testing.T, what string) {
	t.Helper()
	synctest.Wait()
	select {
	case <-c.done:
		t.Errorf("%s did not wait: %v", what, c.err)
	default:
	}
}

// result waits for the call.
func (c *call) result() error {
	<-c.done
	return c.err
}

// hold keeps a Read open until the function it returns is called.
func hold(t *testing.T, s *store.Store) (release func()) {
	t.Helper()
	stop := make(chan struct{})
	read := begin(func() error {
		return s.Read(context.Background(), func(context.Context) error { <-stop; return nil })
	})
	synctest.Wait()
	return func() {
		close(stop)
		if err := read.result(); err != nil {
			t.Error(err)
		}
	}
}

// holdAlone keeps a Write open likewise.
func holdAlone(t *testing.T, s *store.Store) (release func()) {
	t.Helper()
	stop := make(chan struct{})
	write := begin(func() error {
		return s.Write(context.Background(), func(context.Context, *store.Writer) error { <-stop; return nil })
	})
	synctest.Wait()
	return func() {
		close(stop)
		if err := write.result(); err != nil {
			t.Error(err)
		}
	}
}

var shared = map[string]bool{"Read": true, "Reduce": true, "Digest": true, "Verify": true}

func TestReadingPhasesShareTheGateAndOthersHaveItAlone(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		fill(t, s, table, 10)
		ctx := context.Background()
		for what, phase := range phases(s, table) {
			release := hold(t, s)
			c := begin(func() error { return phase(ctx) })
			if shared[what] {
				if err := c.result(); err != nil {
					t.Errorf("%s beside a Read: %v", what, err)
				}
			} else {
				c.waits(t, what+" beside a Read")
			}
			release()
			if err := c.result(); err != nil {
				t.Errorf("%s: %v", what, err)
			}

			release = holdAlone(t, s)
			c = begin(func() error { return phase(ctx) })
			c.waits(t, what+" beside a Write")
			release()
			if err := c.result(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

func TestTheGateIsFirstComeFirstServed(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, _ := newTable(t, store.Options{}, store.TableOptions[item]{})
		var order []string
		release := hold(t, s)
		write := begin(func() error {
			return s.Write(context.Background(), func(context.Context, *store.Writer) error { order = append(order, "write"); return nil })
		})
		write.waits(t, "Write beside a Read")
		read := begin(func() error {
			return s.Read(context.Background(), func(context.Context) error { order = append(order, "read"); return nil })
		})
		read.waits(t, "Read behind a waiting Write")
		release()
		if err := errors.Join(write.result(), read.result()); err != nil || order[0] != "write" {
			t.Errorf("%v, %v", order, err)
		}
	})
}

func TestWaitingAtTheGateEndsWithTheContext(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		fill(t, s, table, 10)
		late := errors.New("too late")
		release := holdAlone(t, s)
		for what, phase := range phases(s, table) {
			ctx, cancel := context.WithTimeoutCause(context.Background(), time.Hour, late)
			if err := phase(ctx); !errors.Is(err, late) {
				t.Errorf("%s: %v", what, err)
			}
			cancel()
		}
		release()
		usable(t, s, table)
	})
}

func TestAPassWhoseContextEndedRunsNoTask(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{ChunkItems: 1})
	fill(t, s, table, 4)
	check := func(ctx context.Context) {
		t.Helper()
		err := s.Each(ctx, 4, func(context.Context, int, store.Queue) error { t.Error("a task of Each ran"); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Each: %v", err)
		}
		err = table.ForEach(ctx, func(context.Context, store.Chunk[item]) error { t.Error("a task of ForEach ran"); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("ForEach: %v", err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	check(cancelled)
	check(ended{t.Context()})
	err := s.Write(t.Context(), func(ctx context.Context, _ *store.Writer) error {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		check(ctx)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAPassOnceBegunRunsWholeThoughItsContextEnds(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := s.Each(ctx, 50, func(_ context.Context, _ int, q store.Queue) error {
		cancel()
		table.Emplace(q, item{})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if report := flush(t, s); report.Total.Created != 50 {
		t.Error(report)
	}
}

// Readers, also the caller's own, and those who wait for them do not keep the one
// that flushes from recording.
func TestQueuesAndDiscardWorkBesideReadersAndThoseWhoWaitForThem(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		record := func() {
			t.Helper()
			table.Emplace(queues(t, s, 1)[0], item{})
			if err := s.Discard(); err != nil {
				t.Error(err)
			}
			table.Emplace(queues(t, s, 1)[0], item{})
		}
		release := hold(t, s)
		record()
		var order []string
		note := func(what string) func() error {
			return func() error {
				return s.Write(context.Background(), func(context.Context, *store.Writer) error { order = append(order, what); return nil })
			}
		}
		first := begin(note("first"))
		first.waits(t, "Write beside a Read")
		record()
		second := begin(note("second"))
		second.waits(t, "a second Write")
		record()
		if len(order) > 0 {
			t.Errorf("beside a Read there was a Write: %v", order)
		}
		release()
		if err := errors.Join(first.result(), second.result()); err != nil || !slices.Equal(order, []string{"first", "second"}) {
			t.Errorf("%v, %v", order, err)
		}
		err := s.Read(t.Context(), func(context.Context) error {
			third := begin(note("third"))
			third.waits(t, "Write beside a Read")
			record()
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		synctest.Wait()
		release = holdAlone(t, s)
		if _, err := s.Queues(1); !errors.Is(err, store.ErrPhase) {
			t.Errorf("Queues beside a Write: %v", err)
		}
		if err := s.Discard(); !errors.Is(err, store.ErrPhase) {
			t.Errorf("Discard beside a Write: %v", err)
		}
		release()
		if report := flush(t, s); report.Total.Created != 1 {
			t.Error(report)
		}
	})
}

func TestPhasesOfTwoStoresDoNotMix(t *testing.T) {
	atOnce(t, func(t *testing.T) {
		a, tableA := newTable(t, store.Options{}, store.TableOptions[item]{})
		b, tableB := newTable(t, store.Options{}, store.TableOptions[item]{})
		fill(t, a, tableA, 1)
		fill(t, b, tableB, 1)
		err := a.Read(t.Context(), func(ctx context.Context) error {
			for what, phase := range phases(b, tableB) {
				if err := phase(ctx); err != nil {
					t.Errorf("%s of another store inside a Read: %v", what, err)
				}
			}
			return b.Write(ctx, func(ctx context.Context, _ *store.Writer) error {
				if _, err := sum(ctx, tableA); err != nil {
					t.Errorf("Reduce inside the Read, through a Write of another store: %v", err)
				}
				if _, err := a.Flush(ctx); !errors.Is(err, store.ErrPhase) {
					t.Errorf("Flush inside the Read: %v", err)
				}
				return nil
			})
		})
		if err != nil {
			t.Error(err)
		}
	})
}
