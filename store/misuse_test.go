package store_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/store"
)

func TestContext_AfterItsPhaseIsErrPhase(t *testing.T) {
	for _, kind := range []string{"Read", "Frame", "ForEach", "Each", "Do", "system"} {
		atOnce(t, func(t *testing.T) {
			v := newVisitor(t)
			var kept context.Context
			noError(t, v.enter(t.Context(), []string{kind}, func(ctx context.Context) { kept = ctx }))
			calls := phases(v.Store, v.outer)
			calls["Close"] = func(ctx context.Context) error { return onlyError(v.Close(ctx)) }
			calls["Run"] = func(ctx context.Context) error { return onlyError(v.frame.Run(ctx)) }
			for what, call := range calls {
				wantError(t, what+" with the context of an ended "+kind, call(kept), store.ErrPhase)
			}
			usable(t, v.Store, v.outer)
		})
	}
}

// A flush that waits for a Write does not block the flushes of the Write.
func TestFlush_OneWaitsAtATime(t *testing.T) {
	atOnce(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		waiting := func() *call {
			table.Emplace(queues(t, s, 1)[0], item{})
			return begin(func() error { return onlyError(s.Flush(context.Background())) })
		}
		release := hold(t, s)
		first := waiting()
		synctest.Wait()
		wantError(t, "the second flush", onlyError(s.Flush(t.Context())), store.ErrPhase)
		release()
		wantError(t, "first", first.result(), nil)
		equal(t, "items", table.Len(), 1)
		table.Emplace(queues(t, s, 1)[0], item{})
		runFrame(t, s, func(ctx context.Context, _ *store.Writer) error {
			first = begin(func() error { return onlyError(s.Flush(context.Background())) })
			synctest.Wait()
			return onlyError(s.Flush(ctx))
		})
		wantError(t, "first", first.result(), nil)
		equal(t, "items", table.Len(), 2)
	})
}

func sum(ctx context.Context, table *store.Table[item]) (uint64, error) {
	return store.Reduce(ctx, table, func(r store.Chunk[item]) (n uint64) {
		for i := range r.Items {
			n += r.Items[i].Value
		}
		return n
	}, func(a, b uint64) uint64 { return a + b })
}

func recordings(table *store.Table[item], q store.Queue) map[string]func() {
	return map[string]func(){
		"Emplace":      func() { table.Emplace(q, item{}) },
		"EmplaceItems": func() { table.EmplaceItems(q, make([]item, 2), nil) },
		"Staged":       func() { table.Staged(q, store.Handle[item]{}) },
		"Erase":        func() { table.Erase(q, store.Handle[item]{}) },
		"EraseItems":   func() { table.EraseItems(q, make([]store.Handle[item], 2)) },
		"Put":          func() { table.Put(q, store.Handle[item]{}, item{}) },
		"Queue.Erase":  func() { q.Erase(compose(1, 1, 0)) },
	}
}

func refused(t *testing.T, table *store.Table[item], q store.Queue, message string) {
	t.Helper()
	for what, record := range recordings(table, q) {
		wantIn(t, what, panicOf(record), message)
	}
}

func TestQueue_MisusePanics(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	fill(t, s, table, 1)
	refused(t, table, store.Queue{}, "zero Queue")

	stranger := newStore(t, store.Options{})
	register(t, stranger, store.TableOptions[item]{})
	foreign := queues(t, stranger, 1)[0]
	for what, record := range recordings(table, foreign) {
		if what == "Queue.Erase" {
			continue // has no table of this store
		}
		wantIn(t, what+" with a queue of another store", panicOf(record), "task 0 in pass 0 belongs to another store")
	}
	equal(t, "commands of the other store", stranger.Pending().Commands, 0)

	var kept store.Queue
	pass := func(err error) {
		_ = s.Each(t.Context(), 3, func(task int, q store.Queue) {
			table.Emplace(q, item{})
			if task == 2 {
				kept = q
			}
			q.Fail(err)
		})
	}
	pass(nil)
	refused(t, table, kept, "task 2 in pass 0 was kept past its pass")
	pass(errTask)
	refused(t, table, kept, "task 2 in pass 1 was kept past its pass")
	wantFlush(t, s, batch.Counts{Created: 3})
	refused(t, table, kept, "task 2 in pass 1 was kept past its flush")

	for _, end := range []func(){
		func() { flush(t, s) },
		func() { table.Emplace(queues(t, s, 1)[0], item{}); flush(t, s) },
		func() { _ = s.Discard() },
		func() { _, _ = s.Close(t.Context()) },
	} {
		kept = queues(t, s, 1)[0]
		end()
		refused(t, table, kept, "task 0 in pass 0 was kept past its flush")
	}
}

// Two goroutines may call Queues and Discard in any order.
func TestQueues_PairsKeepTheStore(t *testing.T) {
	for _, names := range []string{"Queues Queues", "Queues Discard", "Discard Discard"} {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		calls := map[string]func() error{"Queues": func() error { return onlyError(s.Queues(20)) }, "Discard": s.Discard}
		for range 200 {
			var both sync.WaitGroup
			for name := range strings.FieldsSeq(names) {
				both.Go(func() {
					if err := calls[name](); err != nil {
						t.Errorf("%s: %v", names, err)
					}
				})
			}
			both.Wait()
		}
		noError(t, s.Discard())
		fill(t, s, table, 3)
		equal(t, names+": items", table.Len(), 3)
	}
}

func TestWriter_MisusePanics(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	stable := registerStable(t, s, store.TableOptions[item]{Name: "stable"})
	live := fill(t, s, table, 1)[0]
	var none store.Handle[item]
	refuses := func(w *store.Writer, message string) {
		t.Helper()
		for what, change := range map[string]func(){
			"Insert": func() { table.Insert(w, item{}) },
			"Remove": func() { table.Remove(w, live) },
			"Clear":  func() { table.Clear(w) },

			"Remove of no item":        func() { table.Remove(w, none) },
			"Remove of no stable item": func() { stable.Remove(w, none) },

			"Insert stable": func() { stable.Insert(w, item{}) },
			"Remove stable": func() { stable.Remove(w, live) },
			"Clear stable":  func() { stable.Clear(w) },
		} {
			got := panicOf(change)
			call, _, _ := strings.Cut(what, " ")
			wantIn(t, what, got, call+" ")
			wantIn(t, what, got, message)
		}
	}
	refuses(nil, "a Writer that no Write or Frame gave")
	refuses(&store.Writer{}, "a Writer that no Write or Frame gave")
	var kept *store.Writer
	runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
		kept = w
		table.Remove(w, table.Insert(w, item{})) // only the first use of a table in a Frame is slow
		stable.Remove(w, stable.Insert(w, item{}))
		return s.Each(ctx, 1, func(int, store.Queue) {
			refuses(w, "while a pass or flush runs in the same Frame")
		})
	})
	refuses(kept, "a Writer whose Write or Frame has ended")
	write(t, newStore(t, store.Options{}), func(w *store.Writer) { refuses(w, "the Writer of another store") })
	equal(t, "items", table.Len(), 1)
}

func TestChunk_HandleOutsideItPanics(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{ChunkItems: 2})
	hs := fill(t, s, table, 4)
	noError(t, table.ForEach(t.Context(), func(c store.Chunk[item]) {
		equal(t, "c.Handle(1)", c.Handle(1), hs[c.Index*2+1])
		equal(t, "cap(c.Items)", cap(c.Items), 2)
		if panicOf(func() { c.Handle(2) }) == "" || panicOf(func() { c.Erase(-1) }) == "" {
			t.Error("a row of another chunk has a handle")
		}
	}))
}

// Each mistake has a message with the cause and the fix. The nil arguments are in
// TestNil_ArgumentsAreNamed.
func TestMistakes_NameTheirFix(t *testing.T) {
	ctx := context.Background()
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ship", MaxItems: 2})
	type hit struct{ Ship store.Handle[item] }
	hits := register(t, s, store.TableOptions[hit]{Name: "hit"})
	store.AddColumn(table, store.ColumnOptions[int]{Name: "speed"})
	score := store.AddValue(s, store.ColumnOptions[int]{Name: "score"})
	live := fill(t, s, table, 1)[0]
	q := queues(t, s, 1)[0]
	_ = s.Discard()
	distantStore, distant := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ship", TypeID: 9})
	far := fill(t, distantStore, distant, 1)[0].ID
	other, foreign := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ship"})
	gone := newStore(t, store.Options{})
	_, _ = gone.Close(ctx)
	image, wider := new(bytes.Buffer), new(bytes.Buffer)
	noError(t, s.Snapshot(ctx, image))
	saved := image.Bytes()
	noError(t, registered(t, store.TableOptions[item]{Name: "ship", Shards: 2}).Snapshot(ctx, wider))
	jpeg, _ := base64.StdEncoding.DecodeString("/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkI")
	type pointed struct{ Next *int }
	pointers := registered(t, store.TableOptions[pointed]{Name: "ship"})
	var zero, elsewhere store.Checkpoint
	checkpoint(t, other, &elsewhere)
	refers := func(h *hit) store.Handle[item] { return h.Ship }

	set := func(o store.Options) func() error { return func() error { return faultOf(func() { store.New(o) }) } }
	add := func(o store.TableOptions[item]) func() error {
		return func() error { return faultOf(func() { store.Register(s, o) }) }
	}
	plan := func(systems ...store.System) func() error {
		return func() error { return faultOf(func() { store.NewSchedule(s, systems...) }) }
	}
	say := func(f func()) func() error { return func() error { f(); return nil } }
	each := func(f func(q store.Queue)) func() error {
		return func() error { return s.Do(ctx, f) }
	}
	frame := func(f func(ctx context.Context, w *store.Writer) error) func() error {
		return func() error { return onlyError(s.Frame(ctx, f)) }
	}
	var chunk store.Chunk[item]
	noError(t, table.ForEach(ctx, func(c store.Chunk[item]) { chunk = c }))
	_ = s.Discard()
	run := store.System{Name: "move", Run: nothing}
	for mistake, c := range map[string]struct {
		call func() error
		want string // parts, divided by *
	}{
		"negative Workers":            {set(store.Options{Workers: -1}), "Workers -1 is negative; 0 means"},
		"negative QueueLimit":         {set(store.Options{QueueLimit: -1}), "QueueLimit -1 is negative; 0 means"},
		"negative InboxLimit":         {set(store.Options{InboxLimit: -1}), "InboxLimit -1 is negative; 0 means"},
		"negative Shards":             {add(store.TableOptions[item]{Name: "a", Shards: -1}), "Shards -1 is outside 1..*0 means 1"},
		"negative MaxItems":           {add(store.TableOptions[item]{Name: "a", MaxItems: -1}), "MaxItems -1 is negative; 0 means"},
		"Reserve above MaxItems":      {add(store.TableOptions[item]{Name: "a", MaxItems: 1, Reserve: 2}), "Reserve 2 exceeds MaxItems 1"},
		"name of another table":       {add(store.TableOptions[item]{Name: "ship"}), `"ship"*the name is taken; give each table its own Name`},
		"taken TypeID":                {add(store.TableOptions[item]{Name: "a", TypeID: int(live.ID.TypeID())}), "not all free; 0 means the next free typeIds"},
		"column name taken":           {say(func() { store.AddColumn(table, store.ColumnOptions[int]{Name: "speed"}) }), "the name is taken; give each column"},
		"index after the first frame": {say(func() { store.AddIndex(table, "value", func(i *item) (uint64, bool) { return i.Value, true }) }), "add indexes right after Register"},
		"table inside a phase":        {each(func(store.Queue) { store.Register(s, store.TableOptions[item]{Name: "b"}) }), "a phase is open; register outside phases"},
		"Each of -1 tasks":            {func() error { return s.Each(ctx, -1, func(int, store.Queue) {}) }, "Each of -1 tasks; n must not be negative"},
		"Queues of -1":                {func() error { return onlyError(s.Queues(-1)) }, "Queues of -1; n must not be negative"},
		"Defragment with a budget of -1": {frame(func(ctx context.Context, w *store.Writer) error {
			_, _, err := store.Defragment(ctx, table, w, nil, -1)
			return err
		}), "0 is unlimited"},
		"two systems of one name":         {plan(run, run), `"move"*give each system its own Name`},
		"After of an unknown system":      {plan(store.System{Name: "move", Run: nothing, After: []string{"think"}}), `"move"*"think", which is not a system; use the Name`},
		"a circle of After":               {plan(store.System{Name: "a", Run: nothing, After: []string{"b"}}, store.System{Name: "b", Run: nothing, After: []string{"a"}}), "a -> b -> a*remove one"},
		"table of another store in Reads": {plan(store.System{Name: "move", Run: nothing, Reads: on(foreign)}), `"move"*"ship" belongs to another store; declare tables of the store`},
		"value in Emits":                  {plan(store.System{Name: "move", Run: nothing, Emits: on(score)}), "not a table; use Writes"},
		"zero Queue":                      {say(func() { table.Emplace(store.Queue{}, item{}) }), "zero Queue records nothing; use the queue"},
		"queue of an earlier pass":        {say(func() { table.Emplace(q, item{}) }), "kept past its flush; take the queue"},
		"queue of another store":          {say(func() { foreign.Emplace(queues(t, s, 1)[0], item{}) }), "belongs to another store than the table; use a queue"},
		"chunk of an earlier pass":        {say(func() { chunk.Erase(0) }), `"ship"*kept past its pass; use the chunk`},
		"Writer of nobody":                {say(func() { table.Insert(nil, item{}) }), "a Writer that no Write or Frame gave; change tables inside"},
		"Writer of another store":         {func() error { return other.Write(ctx, func(w *store.Writer) { table.Insert(w, item{}) }) }, "the Writer of another store; use the Writer"},
		"Rand without Seed":               {each(func(q store.Queue) { q.Rand() }), "Options.Seed"},
		"Fail of the queue of an Inbox": {func() error {
			return faultOf(func() { _ = s.Inbox(func(q store.Queue) error { q.Fail(nil); return nil }) })
		}, "returns its error"},
		"Flush in a pass": {each(func(q store.Queue) { q.Fail(onlyError(s.Flush(q.Context()))) }), "Flush inside*not allowed in this phase; "},
		"ForEach in a pass over its table": {func() error {
			return table.ForEach(ctx, func(c store.Chunk[item]) { c.Queue.Fail(table.ForEach(c.Queue.Context(), func(store.Chunk[item]) {})) })
		}, "not allowed in this phase; "},
		"Write in a Read": {func() error {
			return s.Read(ctx, func(ctx context.Context) error { return s.Write(ctx, func(*store.Writer) {}) })
		}, "not allowed in this phase; "},
		"Submit in a Frame": {frame(func(ctx context.Context, _ *store.Writer) error {
			return onlyError(s.Submit(ctx, func(store.Queue) error { return nil }))
		}), "use Inbox, or call Submit"},
		"Reduce of the table of the pass": {func() error {
			return table.ForEach(ctx, func(c store.Chunk[item]) { c.Queue.Fail(onlyError(sum(c.Queue.Context(), table))) })
		}, "read it in a pass of its own"},
		"Created without Changes":    {say(func() { store.Created(table) }), "keeps no changes; register it with TableOptions.Changes"},
		"Groups without GroupBy":     {say(func() { new(store.Groups[hit, item]).Of(live) }), "call GroupBy first"},
		"GroupBy of two stores":      {func() error { return store.GroupBy(ctx, new(store.Groups[hit, item]), hits, foreign, refers) }, "use tables of one store"},
		"EraseOrphans of two stores": {func() error { return store.EraseOrphans(ctx, hits, foreign, refers) }, "use tables of one store"},
		"At of a stale handle":       {say(func() { table.At(store.Handle[item]{}) }), "use Get where a handle may be null"},
		"handle of another store":    {say(func() { table.At(store.Handle[item]{ID: far}) }), "it has typeId 9, but*use the table or map that issued it"},
		"too many items": {func() error {
			_ = s.Do(ctx, func(q store.Queue) { table.EmplaceItems(q, make([]item, 3), nil) })
			defer s.Discard()
			return onlyError(s.Flush(ctx))
		}, `table "ship"*1 items and 3 more exceed MaxItems 2; erase some, or raise it`},
		"call after Close":        {func() error { return onlyError(gone.Flush(ctx)) }, "store is closed"},
		"Load of a picture":       {func() error { return s.Load(ctx, bytes.NewReader(jpeg)) }, "no snapshot of Handloom"},
		"Load of nothing":         {func() error { return s.Load(ctx, new(bytes.Buffer)) }, "no snapshot of Handloom"},
		"Load of half a snapshot": {func() error { return s.Load(ctx, bytes.NewReader(saved[:len(saved)-9])) }, "Load*nothing has changed"},
		"Load with a table missing": {func() error {
			return registered(t, store.TableOptions[item]{Name: "ship"}).Load(ctx, bytes.NewReader(saved))
		}, `table "hit": not in the store; register it`},
		"Load with other shards": {func() error { return s.Load(ctx, wider) }, `"ship"*register tables as before`},
		"Load of another type": {func() error {
			return registered(t, store.TableOptions[pointed]{Name: "ship"}).Load(ctx, bytes.NewReader(saved))
		}, `"ship"`},
		"Checkpoint of pointers": {func() error { return pointers.Checkpoint(ctx, new(store.Checkpoint)) }, `"ship"*give it TableOptions.Clone`},
		"Snapshot of pointers":   {func() error { return pointers.Snapshot(ctx, io.Discard) }, `"ship"*Next*name another item by its handle`},
		"Rollback to nothing":    {func() error { return s.Rollback(ctx, &zero) }, "it is empty: no Checkpoint into it has succeeded"},
		"Rollback during a WriteTo": {func() (err error) {
			var c store.Checkpoint
			noError(t, s.Checkpoint(ctx, &c))
			_, _ = c.WriteTo(writerFunc(func(b []byte) (int, error) { err = s.Rollback(ctx, &c); return len(b), nil }))
			return err
		}, "another call uses it; use several in rotation"},
		"Rollback of another store": {func() error { return s.Rollback(ctx, &elsewhere) }, "use one Checkpoint per store"},
	} {
		t.Run(mistake, func(t *testing.T) {
			got := complaint(c.call)
			for part := range strings.SplitSeq(c.want, "*") {
				if !strings.Contains(got, part) {
					t.Errorf("got %q, want one with %q", got, part)
				}
			}
			t.Log(got)
		})
	}
	if n := table.Len(); n != 1 {
		t.Errorf("afterwards the table has %d items, want 1", n)
	}
}

func registered[T any](t *testing.T, o store.TableOptions[T]) *store.Store {
	t.Helper()
	s := newStore(t, store.Options{})
	register(t, s, o)
	return s
}

func TestReduce_FindsQueuesFromOutside(t *testing.T) {
	if !check.Full {
		t.Skip("found in the checked build only")
	}
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	fill(t, s, table, 1)
	q := queues(t, s, 1)[0]
	_, err := store.Reduce(t.Context(), table, func(store.Chunk[item]) int {
		noError(t, s.Inbox(func(q store.Queue) error { table.Emplace(q, item{}); return nil })) // has a queue of its own
		table.Emplace(q, item{})
		return 0
	}, addInt)
	wantText(t, "Emplace", err, "records inside a Reduce, whose tasks share it; return the values")
	table.Emplace(q, item{})
	wantFlush(t, s, batch.Counts{Created: 2})
}

func TestClose_WaitsForOpenPhases(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		table.Emplace(queues(t, s, 1)[0], item{})
		_ = s.Read(t.Context(), func(context.Context) error {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if n, err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || n != 0 {
				t.Errorf("Close during a Read: %d, %v", n, err)
			}
			return nil
		})
		flush(t, s)
		release := hold(t, s)
		closed := begin(func() error { return onlyError(s.Close(context.Background())) })
		closed.waits(t, "Close")
		release()
		noError(t, closed.result())
	})
}
