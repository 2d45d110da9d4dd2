package dense

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"handloom/handle"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

func ascending(a, b *int) int { return *a - *b }

func values(m *Set) []int { return Items[int](m) }

func at(m *Set, row int) handle.Of[int] { return handle.Of[int]{ID: m.IDAt(row)} }

// While rows are moved, the rows in place and the rows to come are in order together.
func verifyOrder(t *testing.T, m *Set) {
	t.Helper()
	noError(t, m.Verify())
	o := m.ordering()
	if o == nil {
		return
	}
	d := defragmenter{m: m, known: o}
	var rows []int
	settled := func(lo, hi int) {
		for row := lo; row < min(hi, o.seen); row++ {
			if o.isSorted(row) {
				rows = append(rows, row)
			}
		}
	}
	if o.stage == moving {
		settled(0, o.lo)
		for _, slot := range o.list[o.at:] {
			if row, valid := d.rowOf(slot); valid {
				rows = append(rows, int(row))
			}
		}
		settled(o.hi, o.seen)
	} else {
		settled(0, o.seen)
	}
	for i := 1; i < len(rows); i++ {
		if a, b := values(m)[rows[i-1]], values(m)[rows[i]]; a > b {
			t.Fatalf("O4: stage %d: %d at row %d comes before %d at row %d", o.stage, a, rows[i-1], b, rows[i])
		}
	}
	for k := 1; o.stage == placing && k < len(o.list); k++ {
		a, valid := d.rowOf(o.list[k-1])
		b, valid2 := d.rowOf(o.list[k])
		if valid && valid2 && values(m)[a] > values(m)[b] {
			t.Fatalf("item %d of the round, %d, comes before %d", k-1, values(m)[a], values(m)[b])
		}
	}
}

func TestDefragment_SurvivesChanges(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 60
	}
	stages := map[string]int{}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		m := Bind[int](new(Set))
		values := []int{1, 3, 10, 1000}[seed%4]
		for range r.IntN(200) {
			Insert(m, r.IntN(values))
		}
		for range 300 {
			for range r.IntN(3) * r.IntN(3) {
				name := disturb(m, r, values)
				verifyOrder(t, m)
				if m.ordering() != nil {
					stages[fmt.Sprint(name, m.ordering().stage)]++
				}
			}
			budget := 1 + r.IntN(30)
			left, before := budget, byID(m)
			moves, done := Defragment(m, func(a, b *int) int { left--; return ascending(a, b) }, budget)
			if verifyOrder(t, m); left-moves < 0 {
				t.Fatalf("seed %d: %d of budget %d left after %d moves", seed, left, budget, moves)
			}
			if done != m.ordering().isDone(m.Len()) || !maps.Equal(byID(m), before) {
				t.Fatalf("seed %d: done: %t, items %v, want %v", seed, done, byID(m), before)
			}
		}
		if _, done := Defragment(m, ascending, 0); !done {
			t.Fatalf("seed %d: not done without a bound", seed)
		}
		verifyOrder(t, m)
	}
	if len(stages) < 40 { // the changes below in five stages, less a few
		t.Errorf("only %d changes and stages met: %v", len(stages), stages)
	}
}

func byID(m *Set) map[handle.ID]int {
	all := make(map[handle.ID]int, m.Len())
	for row, v := range values(m) {
		all[m.IDAt(row)] = v
	}
	return all
}

func disturb(m *Set, r *rand.Rand, limit int) string {
	n := m.Len()
	if n < 2 || r.IntN(3) == 0 && n < 300 {
		Insert(m, r.IntN(limit))
		return "insert"
	}
	i, j := r.IntN(n), r.IntN(n)
	i, j = min(i, j), max(i, j)
	switch r.IntN(12) {
	case 0, 1:
		Erase(m, at(m, i))
		return "erase"
	case 2:
		Erase(m, at(m, n-1))
		return "erase last"
	case 3:
		var hs []handle.ID
		for range r.IntN(10) {
			hs = append(hs, m.IDAt(r.IntN(n)))
		}
		m.EraseItems(hs)
		return "erase items"
	case 4, 5, 6:
		Items[int](m)[i] = r.IntN(limit)
		m.Touch(m.IDAt(i))
		return "touch"
	case 7:
		m.Swap(m.IDAt(i), m.IDAt(j))
		return "swap"
	case 8:
		m.SortRange(i, min(j, i+10), items.Compare(func(a, b *int) int { return *b - *a }))
		return "sort range"
	case 9:
		if r.IntN(20) == 0 {
			m.Partition(items.Chosen(func(v *int) bool { return *v%2 == 0 }))
			return "partition"
		}
		if r.IntN(20) == 0 {
			m.SortByKey(func(v unsafe.Pointer) uint64 { return uint64(*(*int)(v) * 5 % 7) })
			return "sort by key"
		}
		m.InsertItems(items.From(make([]int, r.IntN(5))), nil)
		return "insert items"
	case 10:
		if r.IntN(20) == 0 {
			m.SortAs([]handle.ID{m.IDAt(j), m.IDAt(i)})
			return "sort as"
		}
		c := m.EmptyLike()
		m.CopyTo(c, CloneFuncs{})
		m.MoveFrom(c)
		return "clone"
	default:
		switch r.IntN(40) {
		case 0:
			m.Clear()
			return "clear"
		case 1:
			m.Reset()
			return "reset"
		case 2:
			Defragment[int](m, nil, 0)
			return "forget"
		}
		m.Shrink()
		return "shrink"
	}
}

func TestNextSorted_TakesShortPaths(t *testing.T) {
	const n = 1 << 17
	m := Bind[int](new(Set))
	m.InsertItems(items.From(make([]int, n)), nil)
	Defragment(m, ascending, 0)
	m.touchRange(100, n/2)
	for m.ordering().stage != placing {
		Defragment(m, ascending, 1)
	}
	m.touchRange(n/2, n-100)
	o := m.ordering()
	for range 12 {
		if at := o.nextSorted(100, n); at != n-100 {
			t.Fatalf("the next settled row is %d", at)
		}
	}
	steps, w := 0, 2
	for ; int(o.skips[w]) != w; w = int(o.skips[w]) {
		steps++
	}
	if steps > 20 || w < (n-100)/64 {
		t.Errorf("%d steps lead to word %d of %d", steps, w, n/64)
	}
}

func TestVerify_CitesOrderingInvariant(t *testing.T) {
	for _, c := range []struct {
		cites   string
		what    string
		stage   stage
		corrupt func(o *ordering)
	}{
		{"O1", "more rows known than there are", finding, func(o *ordering) { o.seen++ }},
		{"O1", "a changed row beyond those known", finding, func(o *ordering) { o.changed.grow(100); o.changed.addRange(70, 71) }},
		{"O1", "a wrong count", finding, func(o *ordering) { o.sorting.count++ }},
		{"O1", "a row in both sets", finding, func(o *ordering) { o.changed.addRange(4, 5) }},
		{"O2", "sorting without a round", finding, func(o *ordering) { o.rest() }},
		{"O2", "sorting while all are placed", moving, func(o *ordering) { o.sorting.addRange(4, 5) }},
		{"O3", "an item twice", finding, func(o *ordering) { o.list[3] = o.list[4] }},
		{"O3", "an item lost", finding, func(o *ordering) { o.list = o.list[1:] }},
		{"O3", "an item of no round", finding, func(o *ordering) { o.sorting.removeRange(4, 5) }},
		{"O3", "a merged item twice", merging, func(o *ordering) { o.spare[0] = o.spare[1] }},
		{"O3", "a row wanted twice", moving, func(o *ordering) { o.list[len(o.list)-1] = o.list[len(o.list)-2] }},
		{"O3", "a row wanted too late", moving, func(o *ordering) { o.lo++ }},
	} {
		m := Bind[int](new(Set))
		for i := range 32 {
			Insert(m, i*5%32)
		}
		for m.ordering() == nil || m.ordering().stage != c.stage {
			Defragment(m, ascending, 1)
		}
		Defragment(m, ascending, 3)
		if err := m.Verify(); err != nil || m.ordering().stage != c.stage {
			t.Fatalf("setup for %s: stage %d, %v", c.what, m.ordering().stage, err)
		}
		c.corrupt(m.ordering())
		if err := m.Verify(); err == nil || !strings.Contains(err.Error(), c.cites+":") {
			t.Errorf("%s: Verify says %v, want %s", c.what, err, c.cites)
		}
	}
}

func TestPutItems_MarksRowsForDefragment(t *testing.T) {
	for _, n := range []int{1, fewPuts, fewPuts + 1, 3 * slotset.Lookahead} {
		m := Bind[int](new(Set))
		all, puts := make([]int, 1000), make([]int, n)
		for i := range all {
			all[i] = i
		}
		for i := range puts {
			puts[i] = -i
		}
		ids, err := m.InsertItems(items.From(all), nil)
		if err != nil {
			t.Fatal(err)
		}
		Defragment(m, ascending, 0)
		m.PutItems(ids[len(ids)-n:], items.From(puts))
		Defragment(m, ascending, 0)
		if !slices.IsSorted(values(m)) {
			t.Errorf("%d puts: items are not sorted", n)
		}
	}
}
