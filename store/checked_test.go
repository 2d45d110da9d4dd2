//go:build handloom_check

package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"handloom/batch"
	"handloom/store"
)

type leaky struct {
	Next store.Handle[leaky]
	More []store.Handle[leaky]
}

func leakyTable(t *testing.T) (*store.Store, *store.Table[leaky], []store.Handle[leaky]) {
	t.Helper()
	s := newStore(t, store.Options{})
	table := store.Register(s, store.TableOptions[leaky]{
		Name: "leaky",
		Links: func(v *leaky, visit func(*store.ID)) {
			for i := range v.More {
				visit(&v.More[i].ID)
			}
		},
	})
	names := table.EmplaceItems(queues(t, s, 1)[0], make([]leaky, 5), nil)
	flush(t, s)
	for i, p := range names {
		names[i], _ = table.Resolve(p)
	}
	return s, table, names
}

func says(t *testing.T, message string, words ...string) {
	t.Helper()
	for _, word := range words {
		wantIn(t, "the panic", message, word)
	}
}

func TestChecked_FlushFindsProvisionalHandles(t *testing.T) {
	for where, write := range map[string]func(v *leaky, p store.Handle[leaky]){
		"at offset 0":    func(v *leaky, p store.Handle[leaky]) { v.Next = p },
		"in a reference": func(v *leaky, p store.Handle[leaky]) { v.More = append(v.More, p) },
	} {
		s, table, hs := leakyTable(t)
		var p store.Handle[leaky]
		err := table.ForEach(t.Context(), func(c store.Chunk[leaky]) {
			p = table.Emplace(c.Queue, leaky{})
			write(&c.Items[3], p)
		})
		noError(t, err)
		_, err = s.Flush(t.Context())
		if !errors.Is(err, store.ErrPhase) || table.Len() != 5 {
			t.Fatalf("%s: Flush: %v, %d items", where, err, table.Len())
		}
		says(t, err.Error(), `table "leaky"`, hs[3].String(), p.String(), where)
		*table.At(hs[3]) = leaky{}
		wantFlush(t, s, batch.Counts{Created: 1})
	}
}

func TestChecked_PhaseFindsForbiddenWrites(t *testing.T) {
	s, table, hs := leakyTable(t)
	other := register(t, s, store.TableOptions[item]{Name: "other"})
	fill(t, s, other, 1)
	ctx, last := t.Context(), 0
	write := func() error {
		last++
		table.At(hs[0]).Next = hs[last%5]
		return nil
	}
	for phase, run := range map[string]func() error{
		"Read": func() error { return s.Read(ctx, func(context.Context) error { return write() }) },
		"Each": func() error {
			return s.Each(ctx, 1, func(_ int, q store.Queue) { q.Fail(write()) })
		},
		"ForEach": func() error {
			return other.ForEach(ctx, func(c store.Chunk[item]) { c.Queue.Fail(write()) })
		},
		"Reduce": func() error {
			return onlyError(store.Reduce(ctx, table, func(store.Chunk[leaky]) int { _ = write(); return 0 }, addInt))
		},
	} {
		says(t, panicOf(func() { _ = run() }), "P1", `table "leaky"`, phase)
	}
	err := table.ForEach(ctx, func(c store.Chunk[leaky]) { c.Queue.Fail(write()) })
	wantError(t, "a pass over the table itself", err, nil)
	wantError(t, "a Do", s.Do(ctx, func(q store.Queue) { q.Fail(write()) }), nil)
}

func TestChecked_LookupDuringFlushPanics(t *testing.T) {
	s, table, hs := leakyTable(t)
	table.Erase(queues(t, s, 1)[0], hs[0])
	steps := 0
	perturb(t, func(int) func(int) int {
		steps++
		apply := steps == 3
		return func(i int) int {
			if apply {
				table.Get(hs[1])
			}
			return i
		}
	})
	_, err := s.Flush(t.Context())
	says(t, fmt.Sprint(err), "Get", `table "leaky"`, "while a flush applies")
}

func TestChecked_FlushCountsCommands(t *testing.T) {
	s, table, hs := leakyTable(t)
	table.Erase(queues(t, s, 1)[0], hs[0])
	flush(t, s)
	says(t, panicOf(func() { s.Settled(2) }), "B1", "1 commands of 2")
	s.Settled(1)
}

// A checked build names a second goroutine that uses a Writer.
func TestWriter_SecondCallPanics(t *testing.T) {
	s := newStore(t, store.Options{})
	var second func()
	table := register(t, s, store.TableOptions[item]{Name: "keyed"})
	store.AddIndex(table, "value", func(v *item) (uint64, bool) {
		if second != nil {
			second()
		}
		return v.Value, true
	})
	shield := addSparse(t, table, store.ColumnOptions[int]{Name: "shield"})
	write(t, s, func(w *store.Writer) {
		h := table.Insert(w, item{Value: 1})
		refused := make(map[string]string)
		second = func() {
			second = nil
			for name, call := range map[string]func(){
				"Insert": func() { table.Insert(w, item{}) },
				"Remove": func() { table.Remove(w, h) },
				"Clear":  func() { table.Clear(w) },
				"Put":    func() { shield.Put(w, h, 1) },
			} {
				done := make(chan string)
				go func() { done <- panicOf(call) }()
				refused[name] = <-done
			}
		}
		table.Insert(w, item{Value: 2})
		equal(t, "calls", len(refused), 4)
		for name, got := range refused {
			wantIn(t, name, got, "store: "+name+" while another call with the same Writer runs")
		}
		table.Remove(w, h)
	})
	equal(t, "items", table.Len(), 1)
}
