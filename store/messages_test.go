package store_test

import (
	"context"
	"fmt"
	"testing"

	"handloom/store"
)

func TestErrors_NameTheFix(t *testing.T) {
	s, table := newTable(t, store.Options{QueueLimit: 2, InboxLimit: 4}, store.TableOptions[item]{})
	fill(t, s, table, 1)
	calls := phases(s, register(t, s, store.TableOptions[item]{Name: "other"}))
	for _, c := range []struct{ what, inside, says string }{
		{"Flush", "ForEach", "Flush inside ForEach: not allowed in this phase; only Reduce joins a task; call it when ForEach has returned"},
		{"ForEach", "Do", "only Reduce joins a task; call it when Do has returned"},
		{"ForEach", "Read", "only Reduce, Digest, Verify, Snapshot and ReadCheckpoint join a Read; call it when Read has returned"},
		{"Write", "Frame", "use the Writer of the outer Frame"},
		{"Read", "Frame", "lookups need no Read here"},
		{"Read", "ForEach", "lookups need no Read here"},
	} {
		call := calls[c.what]
		v := &visitor{Store: s, outer: table}
		noError(t, v.enter(t.Context(), []string{c.inside}, func(ctx context.Context) { wantText(t, c.what, call(ctx), c.says) }))
	}
	_, err := s.Frame(t.Context(), func(ctx context.Context, _ *store.Writer) error {
		return onlyError(s.Close(ctx))
	})
	wantText(t, "the call", err, "Close inside Frame: not allowed in this phase; call it when Frame has returned")

	flushing := store.NewSchedule(s, store.System{Name: "flushing", Run: func(ctx context.Context) error { return onlyError(s.Flush(ctx)) }})
	_, err = flushing.Run(t.Context())
	wantText(t, "the call", err, "the schedule flushes the tables that systems name in Emits")

	record := func(q store.Queue, n int) error {
		for range n {
			table.Emplace(q, item{})
		}
		return nil
	}
	err = s.Do(t.Context(), func(q store.Queue) { q.Fail(record(q, 3)) })
	wantText(t, "the call", err, "store: Do: queue is full: task 0 recorded more than 2 commands; record in more tasks, or raise the limit")
	wantText(t, "the call", s.Inbox(func(q store.Queue) error { return record(q, 3) }), "record in more calls, or raise the limit")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	wantText(t, "the call", calls["ForEach"](ended), "store: ForEach did not begin before its context ended: context canceled; inside a phase use the phase's context")

	noError(t, onlyError(s.Close(t.Context())))
	_, err = s.Queues(1)
	wantText(t, "the call", err, "store: Queues: store is closed")
}

func TestAt_NamesTheHandleFault(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	recorded := table.Emplace(queues(t, s, 1)[0], item{})
	for says, h := range map[string]store.Handle[item]{
		"it is provisional; after the flush Resolve gives the real one":             recorded,
		"the null handle names no item; use Get where a handle may be null":         {},
		"names no item: there is no such slot; use Get where a handle may be stale": {ID: 1<<48 | 1<<32},
	} {
		wantIn(t, fmt.Sprintf("At(%v)", h), panicOf(func() { table.At(h) }), says)
	}
}

func TestAt_ForeignHandleNamesBothTypeIDs(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{})
		others := register(t, s, store.TableOptions[item]{Name: "others", Shards: store.MaxShards, TypeID: 6})
		table := registerKind(t, s, store.TableOptions[item]{Name: "table", TypeID: 70, Shards: 2}, stable)
		for _, h := range fill(t, s, others, 64*3) {
			asked := 70
			if h.ID.TypeID() == 71-64 {
				asked = 71
			}
			want := fmt.Sprintf("handle %v names no item: it has typeId %d, but it was looked up among handles of typeId %d; ", h, h.ID.TypeID(), asked)
			wantIn(t, "At", panicOf(func() { table.At(h) }), want)
		}
	})
}
