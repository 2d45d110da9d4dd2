package store_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"handloom/batch"
	"handloom/store"
)

func TestProvisionalHandlesStoredAnywhereInABatchBecomeReal(t *testing.T) {
	for _, shards := range []int{1, 4} {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: shards})
		other := register(t, s, store.TableOptions[[2]item]{Name: "arrays", Shards: shards})
		old := fill(t, s, table, 1)[0]
		qs := queues(t, s, 3)
		self := store.EmplaceFunc(table, qs[1], func(h store.Handle[item], v *item) { v.Parent, v.Links[1] = h, h.ID })
		array := other.Emplace(qs[0], [2]item{1: {Parent: self}}) // recorded before it by key
		table.Put(qs[2], old, item{Parent: self, Links: [2]store.ID{array.ID, old.ID}})
		flush(t, s)

		self, realArray := resolve(t, table, self), resolve(t, other, array)
		if v := table.At(self); v.Parent != self || v.Links[1] != self.ID {
			t.Errorf("the item names itself as %+v, not %v", v, self)
		}
		if v := other.At(realArray); v[1].Parent != self || v[0].Parent.ID != 0 {
			t.Errorf("the array names %+v, not %v", v, self)
		}
		if v := table.At(old); v.Parent != self || v.Links != [2]store.ID{realArray.ID, old.ID} {
			t.Errorf("the value put names %+v, not %v, %v and %v", v, self, realArray, old)
		}
	}
}

func TestAChainOfAThousandProvisionalHandlesBecomesReal(t *testing.T) {
	sameEverywhere(t, store.Options{}, func(r *trial) {
		table := register(r, r.Store, store.TableOptions[item]{Shards: 3})
		var names []store.ID
		var last store.Handle[item]
		for _, q := range queues(r, r.Store, 10) {
			for range 100 {
				last = table.Emplace(q, item{Value: uint64(len(names)), Parent: last})
				names = append(names, last.ID)
			}
		}
		r.flush(names...)
		at, _ := table.Resolve(last)
		for i := 999; i >= 0; i-- {
			v, ok := table.Get(at)
			if !ok || v.Value != uint64(i) {
				r.Fatalf("link %d leads to %+v", i, v)
			}
			at = v.Parent
		}
		if !at.ID.IsZero() {
			r.Errorf("the chain begins at %v", at)
		}
	})
}

func TestProvisionalHandlesResolveUntilTheNextFlushWithCommands(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	other := register(t, s, store.TableOptions[item]{Name: "other"})
	p := table.Emplace(queues(t, s, 1)[0], item{})
	if _, ok := table.Resolve(p); ok {
		t.Error("it resolves before the flush")
	}
	flush(t, s)
	h := resolve(t, table, p)
	steps := []struct {
		what string
		do   func()
	}{
		{"an empty flush", func() { flush(t, s) }},
		{"an empty flush of a pass", func() { queues(t, s, 3); flush(t, s) }},
		{"recording", func() { other.Emplace(queues(t, s, 1)[0], item{}) }},
		{"a flush that fails", func() {
			if _, err := s.Flush(ended{context.Background()}); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}},
		{"discarding", func() { _ = s.Discard() }},
	}
	for _, step := range steps {
		step.do()
		if again, ok := table.Resolve(p); again != h || !ok {
			t.Errorf("after %s: %v, %t; want %v", step.what, again, ok, h)
		}
		if again, ok := s.Resolve(p.ID); again != h.ID || !ok {
			t.Errorf("after %s, untyped: %v, %t; want %v", step.what, again, ok, h)
		}
	}
	other.Emplace(queues(t, s, 1)[0], item{}) // nothing for the table of p
	flush(t, s)
	if again, ok := table.Resolve(p); ok {
		t.Errorf("after a flush with commands: %v", again)
	}
	if again, ok := s.Resolve(p.ID); ok {
		t.Errorf("after a flush with commands: %v", again)
	}
}

func TestProvisionalHandlesNeverResolveInALookup(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 2})
	fill(t, s, table, 100)
	q := queues(t, s, 1)[0]
	names := table.EmplaceItems(q, make([]item, 100), nil)
	look := func(when string) {
		for _, p := range names {
			if _, ok := table.Get(p); ok || table.Has(p) || s.Has(p.ID) {
				t.Errorf("%s %v resolves", when, p)
			}
		}
	}
	look("before the flush")
	flush(t, s)
	look("after the flush")
	if message := panicOf(func() { table.At(names[0]) }); message == "" {
		t.Error("At found an item")
	}
}

func TestProvisionalHandlesOfAnotherBatchAreStale(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 2})
	names := table.EmplaceItems(queues(t, s, 1)[0], make([]item, 3), nil)
	flush(t, s)
	useStaleNames(t, s, table, names)
	names = table.EmplaceItems(queues(t, s, 1)[0], make([]item, 3), nil)
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
	useStaleNames(t, s, table, names)
}

// However many batches come and go between, flushed, discarded or rolled back:
// no create gets the name of one that somebody may still hold.
func TestProvisionalHandlesAreStaleForEver(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	old := table.Emplace(queues(t, s, 1)[0], item{})
	flush(t, s)
	var start store.Checkpoint
	checkpoint(t, s, &start)
	const batches = 1<<16 + 10
	for i := range batches {
		q := queues(t, s, 1)[0]
		p := table.Emplace(q, item{Value: 1})
		table.Erase(q, old)
		table.Put(q, old, item{Value: 2})
		if i > 0 && i < batches-20 {
			if err := s.Discard(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if report := flush(t, s); report.Total != (batch.Counts{Created: 1, Stale: 2}) {
			t.Fatalf("after %d batches: %v", i, report)
		}
		if h, ok := table.Resolve(old); ok {
			t.Fatalf("after %d batches the name of the first resolves to %v", i, h)
		}
		if v := table.At(resolve(t, table, p)); v.Value != 1 {
			t.Fatalf("after %d batches: %+v", i, v)
		}
		if i%2 == 0 {
			rollback(t, s, &start)
		}
	}
}

func TestProvisionalHandlesOfADroppedPassAreStale(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 2})
	var names []store.Handle[item]
	err := s.Each(t.Context(), 2, func(_ context.Context, task int, q store.Queue) error {
		if task == 0 {
			names = table.EmplaceItems(q, make([]item, 3), nil)
			return nil
		}
		return errTask
	})
	if !errors.Is(err, errTask) {
		t.Fatal(err)
	}
	useStaleNames(t, s, table, names)
}

// useStaleNames uses three names in every way there is, beside creates whose
// names must not be taken for them.
func useStaleNames(t *testing.T, s *store.Store, table *store.Table[item], names []store.Handle[item]) {
	t.Helper()
	q := queues(t, s, 1)[0]
	table.Erase(q, names[0])
	q.Erase(names[0].ID)
	table.Put(q, names[1], item{})
	holder := table.Emplace(q, item{Parent: names[2]})
	for i := range 2 {
		table.Emplace(q, item{Value: uint64(i)})
	}
	report := flush(t, s)
	if report.Total != (batch.Counts{Created: 3, Stale: 3, Dangling: 1}) {
		t.Errorf("%v", report)
	}
	if len(report.Stale) != 3 || report.Stale[0].Handle != names[0].ID || report.Stale[2].Handle != names[1].ID {
		t.Errorf("samples %+v, want %v", report.Stale, names)
	}
	if v := table.At(resolve(t, table, holder)); !v.Parent.ID.IsZero() {
		t.Errorf("the stored name became %v", v.Parent)
	}
	for _, p := range names {
		if h, ok := table.Resolve(p); ok {
			t.Errorf("%v resolves to %v", p, h)
		}
	}
}

func TestANameWhoseTargetWasCancelledBecomesNullAndCountsAsDangling(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	other := register(t, s, store.TableOptions[item]{Name: "other"})
	q := queues(t, s, 1)[0]
	gone := table.Emplace(q, item{})
	holder := other.Emplace(q, item{Parent: gone, Links: [2]store.ID{gone.ID, 1<<63 | 7<<48 | 5}})
	// What is superseded, cancelled or dropped holds nothing that dangles.
	table.Erase(q, table.Emplace(q, item{Parent: gone}))
	other.Put(q, holder, item{Links: [2]store.ID{gone.ID, gone.ID}})
	other.Put(q, holder, item{Parent: gone, Links: [2]store.ID{gone.ID, 1<<63 | 7<<48 | 5}})
	table.Erase(q, gone)
	report := flush(t, s)
	if report.Total != (batch.Counts{Created: 1, Put: 1, Superseded: 1, CancelledOut: 4, Dangling: 3}) {
		t.Errorf("%v", report)
	}
	if v := *other.At(resolve(t, other, holder)); v != (item{}) {
		t.Errorf("the holder keeps %+v", v)
	}
	if h, ok := table.Resolve(gone); ok || !h.ID.IsZero() {
		t.Errorf("a cancelled create resolves to %v", h)
	}
}

func TestTwoPassesUseEachOthersNamesWithinABatch(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 2})
	names := make([]store.Handle[item], 8)
	for pass := range 2 {
		err := s.Each(t.Context(), len(names), func(_ context.Context, task int, q store.Queue) error {
			if pass == 0 {
				names[task] = table.Emplace(q, item{Value: uint64(task)})
			} else if task%2 == 0 {
				table.Put(q, names[(task+3)%len(names)], item{Value: 100})
			} else {
				table.Erase(q, names[(task+3)%len(names)])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if report := flush(t, s); report.Total != (batch.Counts{Created: 4, Put: 4, CancelledOut: 8}) {
		t.Errorf("%v", report)
	}
	for h, v := range table.All() {
		if v.Value != 100 {
			t.Errorf("%v holds %d", h, v.Value)
		}
	}
}

// Each store gives names of its own: a name that outlives its store, in a client or in a
// live item, is stale in the store that goes on from its snapshot.
func TestProvisional_StaleAfterLoadIntoAnotherStore(t *testing.T) {
	ctx := context.Background()
	first, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "items", Shards: 2})
	old := table.Emplace(queues(t, first, 1)[0], item{Value: 1})
	flush(t, first)
	var saved bytes.Buffer
	if err := first.Snapshot(ctx, &saved); err != nil {
		t.Fatal(err)
	}
	second, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "items", Shards: 2})
	if err := second.Load(ctx, &saved); err != nil {
		t.Fatal(err)
	}
	q := queues(t, second, 1)[0]
	mine := table.Emplace(q, item{Value: 2})
	table.Erase(q, old)
	table.Put(q, old, item{Value: 3})
	if report := flush(t, second); report.Total.Created != 1 || report.Total.Stale != 2 {
		t.Errorf("%v, want 1 created 2 stale", report)
	}
	if _, ok := table.Resolve(old); ok {
		t.Errorf("%v of the store before resolves", old)
	}
	if v := table.At(resolve(t, table, mine)); v.Value != 2 {
		t.Errorf("the create is %+v, want value 2", v)
	}
}
