package store_test

import (
	"testing"

	"handloom/batch"
	"handloom/store"
)

// badHandles are handles that name no item, by what is wrong with them; good
// names the item in slot 0 of a table and gone is stale.
func badHandles(good, gone store.ID) map[string]store.ID {
	return map[string]store.ID{
		"null":                          0,
		"of another table":              good + 100<<48,
		"free bit forged":               good | 1<<63 | 1<<46,
		"next generation of a live one": good + 1<<32,
		"stale":                         gone,
		"next generation of vacant":     gone + 1<<32,
		"vacant slot's own upper half":  gone + 1<<32 | 1<<63,
		"slot out of range":             good + 1<<20,
		"the last slot":                 good | 1<<32 - 1,
		"all ones":                      1<<64 - 1,
	}
}

func TestBadHandlesOfAnyKindAreCountedAsStaleAndNamed(t *testing.T) {
	for _, shards := range []int{1, 2, 3, 5, 8} {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: shards})
		hs := fill(t, s, table, 20)
		table.Erase(queues(t, s, 1)[0], hs[1])
		flush(t, s)
		before := digest(t, s)
		for what, id := range badHandles(hs[0].ID, hs[1].ID) {
			if table.Has(handleOf(id)) || s.Has(id) {
				t.Errorf("%d shards: a handle (%s) resolves", shards, what)
			}
			q := queues(t, s, 1)[0]
			table.Erase(q, handleOf(id))
			table.EraseItems(q, []store.Handle[item]{handleOf(id), handleOf(id)})
			table.Put(q, handleOf(id), item{Value: 1})
			q.Erase(id)
			report := flush(t, s)
			if report.Total != (batch.Counts{Stale: 5}) {
				t.Errorf("%d shards, handle %v (%s): %v, not 5 stale", shards, id, what, report)
			}
			for _, sample := range report.Stale {
				if sample.Handle != id {
					t.Errorf("the sample names %v, not %v", sample.Handle, id)
				}
			}
			if len(report.Stale) != 5 || digest(t, s) != before {
				t.Errorf("%d samples, digest %x; want 5 and %x", len(report.Stale), digest(t, s), before)
			}
		}
	}
}

func TestOneStaleCommandAmongManyIsCountedAndPoisonsNothing(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 4})
	hs := fill(t, s, table, 10_000)
	table.Erase(queues(t, s, 1)[0], hs[5000])
	flush(t, s)
	q := queues(t, s, 1)[0]
	for _, h := range hs {
		table.Put(q, h, item{Value: 7})
	}
	report := flush(t, s)
	if report.Total != (batch.Counts{Put: 9_999, Stale: 1}) {
		t.Error(report)
	}
	want := batch.Sample{Handle: hs[5000].ID, TypeID: hs[5000].ID.TypeID(), Kind: 1, Sequence: 1250}
	if len(report.Stale) != 1 || report.Stale[0].Handle != want.Handle || report.Stale[0].Kind != want.Kind {
		t.Errorf("samples %+v, want one of %v", report.Stale, want.Handle)
	}
	for h, v := range table.All() {
		if v.Value != 7 {
			t.Fatalf("%v holds %d", h, v.Value)
		}
	}
	table.Erase(queues(t, s, 1)[0], hs[0])
	if report := flush(t, s); report.Total != (batch.Counts{Erased: 1}) || len(report.Stale) != 0 {
		t.Errorf("the next flush: %v", report)
	}
}

func TestSamplesAreTheLowestByTypeKindAndKey(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{TypeID: 5})
	qs := queues(t, s, 2)
	for i := range 30 { // handles of no table, the higher typeId first
		qs[0].Erase(compose(uint16(900-i), 1, 0))
	}
	for range 3 {
		qs[1].Erase(compose(2, 1, 0))
		table.Put(qs[1], handleOf(compose(5, 1, 9)), item{})
		table.Erase(qs[0], handleOf(compose(5, 1, 8)))
	}
	report := flush(t, s)
	want := []batch.Sample{
		{Handle: compose(2, 1, 0), TypeID: 2, Task: 1, Sequence: 0},
		{Handle: compose(2, 1, 0), TypeID: 2, Task: 1, Sequence: 1},
		{Handle: compose(2, 1, 0), TypeID: 2, Task: 1, Sequence: 2},
		{Handle: compose(5, 1, 8), TypeID: 5, Sequence: 0},
		{Handle: compose(5, 1, 8), TypeID: 5, Sequence: 1},
		{Handle: compose(5, 1, 8), TypeID: 5, Sequence: 2},
		{Handle: compose(5, 1, 9), TypeID: 5, Kind: 1, Task: 1, Sequence: 0},
		{Handle: compose(5, 1, 9), TypeID: 5, Kind: 1, Task: 1, Sequence: 1},
	}
	if report.Total.Stale != 39 || len(report.Stale) != len(want) {
		t.Fatalf("%v with samples %+v", report, report.Stale)
	}
	for i, sample := range report.Stale {
		if sample != want[i] {
			t.Errorf("sample %d is %+v, want %+v", i, sample, want[i])
		}
	}
}

// What names a create differs from run to run; reports must not.
func TestReportsAreEqualWhateverTheNamesOfProvisionalHandles(t *testing.T) {
	report := func(elsewhere int) *store.Report {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		other := register(t, s, store.TableOptions[item]{Name: "other"})
		qs := queues(t, s, 2)
		for range elsewhere {
			table.Emplace(qs[1], item{})
		}
		p := table.Emplace(qs[0], item{})
		if elsewhere == 0 {
			table.Emplace(qs[1], item{})
		}
		other.Erase(qs[0], p)
		return flush(t, s)
	}
	if a, b := report(0), report(1); !a.Equal(b) {
		t.Errorf("%+v\n%+v", a, b)
	}
}
