package suite

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"handloom/bench/internal/measure"
	"handloom/internal/trace"
)

type counted func(n int) int

func all(n int) int   { return n }
func tenth(n int) int { return n / 20 * 2 }
func sumTo(n int) int { return n * (n - 1) / 2 } // sum of the values

func times(k int) counted { return func(n int) int { return k * n } }
func fixed(k int) counted { return func(int) int { return k } }

type figure struct {
	items  counted // divisor of the figure
	done   counted // operations of the first body; nil: not visible
	values counted // sum of the values read; nil: not visible
}

var figures = map[string]figure{
	"create insert refillrandom erase churn clear digest checkpoint save load savefile": {items: all},

	"insertitems refillitems sort defragment record.emplace record.erase": {items: all, done: all},
	"columnadd columncreate/table flush indexflush register smallflush":   {items: all, done: all},

	"iterate getinorder get columnsum":      {items: all, values: sumTo},
	"iterate/slotmap iterate/handlemap.All": {items: all}, // the sum includes handles
	"neighbours":                            {items: all, done: all},
	"putflush sparseflush":                  {items: tenth, done: tenth},
	"sparseframe":                           {items: fixed(0), done: withEffects},
	"groupby fold":                          {items: times(2), done: times(2)},
	"columncreate/table.4columns":           {items: all, done: times(5)},
	"append halves":                         {items: fixed(0)},
	"foreach":                               {items: all, done: func(n int) int { return n - 1 }}, // item 0 remains 0
	"emptypass":                             {items: fixed(64)},
	"fewcommands manytables":                {items: fixed(64), done: times(64)},
	"smallflush/table.64tables.1task":       {items: of64Tables, done: of64Tables},
	"smallflush/table.64tables.2tasks":      {items: of64Tables, done: of64Tables},
	"frame1":                                {items: fixed(0), done: dying(1)},
	"frame10":                               {items: fixed(0), done: dying(10)},
	"storm":                                 {items: fixed(0), done: dying(5)},
	"mixed":                                 {items: times(8)},
	"replay/table":                          {items: events, done: events},
	"replay/map":                            {items: events, done: liveAtEnd},
}

func figureOf(names ...string) (figure, bool) {
	for _, name := range names {
		for ops, f := range figures {
			if slices.Contains(strings.Fields(ops), name) {
				return f, true
			}
		}
	}
	return figure{}, false
}

func of64Tables(n int) int { return 2 * 64 * max(1, n/128) }

func dying(percent uint64) counted {
	return func(n int) (dead int) {
		for v := range uint64(n) {
			x := (v + 1) * 0x9e3779b97f4a7c15
			if (x^x>>29)>>8%100 < percent {
				dead++
			}
		}
		return dead
	}
}

// withEffects counts distinct items of the last ten of eleven frames.
func withEffects(n int) int {
	r, order, has := set[item64]{n: n, seed: 1}.random(), permutation(rand.New(rand.NewPCG(1, 1)), n), make(map[uint32]bool)
	for frame := range effectFrames + 1 {
		drawFirst(r, order, n/100)
		for _, i := range order[:n/100] {
			if frame > 0 {
				has[i] = true
			}
		}
	}
	return len(has)
}

func events(int) int { n, _ := countTrace(); return n }

func liveAtEnd(int) int { _, n := countTrace(); return n }

func countTrace() (events, live int) {
	for tick, err := range trace.Ticks(bytes.NewReader(trace.Sample), "embedded trace") {
		check(err)
		for _, e := range tick {
			switch events++; e.Kind {
			case trace.Create:
				live++
			case trace.Erase:
				live--
			}
		}
	}
	return events, live
}

func TestCases_DoTheOperationsCountedByHand(t *testing.T) {
	for _, n := range []int{40, 1280} {
		for _, c := range (Options{N: []int{n}, Workers: []int{1, 2}, Seed: 1}).All() {
			w := c.Open()
			if w.Measure == nil {
				checkFigure(t, &c, w, n)
			} else if v := w.Measure(); math.IsNaN(v) || math.IsInf(v, 0) || v < 0 && c.Unit != "B/item" {
				t.Errorf("%s: a sample is %v", c.Name(), v)
			}
			if w.Close != nil {
				w.Close()
			}
		}
	}
}

func checkFigure(t *testing.T, c *measure.Case, w *measure.Work, n int) {
	t.Helper()
	want, ok := figureOf(c.Op+"/"+c.Impl, c.Op)
	if !ok {
		t.Errorf("%s: no figure is counted by hand", c.Name())
		return
	}
	if w.Items != want.items(n) {
		t.Errorf("%s: items=%d; want %d", c.Name(), w.Items, want.items(n))
	}
	before := sink
	body := func() {
		if w.Prepare != nil {
			w.Prepare()
			before = sink
		}
		w.Body()
	}
	if w.Within != nil {
		w.Within(body)
	} else {
		body()
	}
	if want.values != nil && int(sink-before) != want.values(n) {
		t.Errorf("%s: the sum of the values is %d; want %d", c.Name(), sink-before, want.values(n))
	}
	switch {
	case (w.Count == nil) != (want.done == nil):
		t.Errorf("%s: the result shows a count: %t; want %t", c.Name(), w.Count != nil, want.done != nil)
	case w.Count != nil && w.Count() != want.done(n):
		t.Errorf("%s: the body did %d operations; want %d", c.Name(), w.Count(), want.done(n))
	}
}

func TestOperations_LeaveTheItemsCountedByHand(t *testing.T) {
	const n = 200
	s := full[item8]{set[item8]{n: n, seed: 1}}
	for _, o := range operations {
		want := uint64(sumTo(n))
		if o.op == "erase" || o.op == "clear" {
			want = 0
		}
		for _, impl := range containers[item8]() {
			c := impl.make(s.load())
			w := s.work(c, o)
			if w.Prepare != nil {
				w.Prepare()
			}
			w.Body()
			before := sink
			if c.lookUp(); sink-before != want {
				t.Errorf("%s/%s: the sum of the items left is %d; want %d", o.op, impl.name, sink-before, want)
			}
		}
	}
}

func TestSystems_ShareOfTheItems(t *testing.T) {
	const n = 100_000
	shares := map[string]struct{ percent, lookUps int }{"frame1": {1, 100}, "frame10": {10, 100}, "storm": {5, 0}}
	for _, y := range systems {
		want, ok := shares[y.op]
		if !ok {
			t.Errorf("%s: no share is stated", y.op)
		}
		dead := 0
		for _, v := range values[item32](n) {
			if y.move(&v, 7) {
				dead++
			}
		}
		if share := n / 100 * want.percent; dead < share*9/10 || dead > share*11/10 {
			t.Errorf("%s: %d of %d items die; want about %d", y.op, dead, n, share)
		}
		if y.looked(1000) != want.lookUps {
			t.Errorf("%s: %d of 1000 items are looked up; want %d", y.op, y.looked(1000), want.lookUps)
		}
	}
}

// The file next to a journal or snapshot is synced once per body.
func TestDisk_SyncsOncePerBody(t *testing.T) {
	syncs := 0
	defer func(f func(*os.File) error) { syncFile = f }(syncFile)
	syncFile = func(*os.File) error { syncs++; return nil }
	s := full[item8]{set[item8]{n: 10, seed: 1}}
	for _, c := range append(s.files(), appends(s)...) {
		if c.Impl == "journal" { // syncs its own files
			continue
		}
		w := c.Open()
		for i := range 3 {
			before := syncs
			if w.Body(); syncs != before+1 {
				t.Errorf("%s: body %d synced %d times; want 1", c.Name(), i, syncs-before)
			}
		}
		w.Close()
	}
}

// A slice keeps its length; as many items are born as die.
func TestFrames_KeepTheirItems(t *testing.T) {
	const n = 1000
	y := systems[1]
	items := values[item32](n)
	for number := range uint64(5) {
		want := 0
		for _, v := range items {
			if y.move(&v, number) {
				want++
			}
		}
		if y.tick(items, number); born(items) != want || len(items) != n {
			t.Errorf("frame %d: %d items were born; want %d", number, born(items), want)
		}
	}
}
