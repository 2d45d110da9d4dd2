package store_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"handloom/store"
)

// Each component has two versions of a type of its own, so a wrong migration shows.
type (
	firstPart struct {
		Num  int16
		Gone []uint16
		Text string
	}
	secondPart struct {
		Text  string
		Extra []uint8
		Num   int64
	}
)

func firstOf(part string, i int) firstPart {
	return firstPart{int16(i*31 - len(part)), make([]uint16, i%4), fmt.Sprint(part, i)}
}

func secondOf(part string, i int) secondPart {
	return secondPart{fmt.Sprint(part, i), []byte{uint8(i), uint8(len(part))}, int64(i) << 20}
}

func (v firstPart) grown() secondPart { return secondPart{Text: v.Text, Num: int64(v.Num)} }

type partPlan struct {
	name     string
	optional bool
	before   int
	after    int
}

func (p *partPlan) hasOptional(i int) bool { return (i+len(p.name))%3 > 0 }

func addPart[C, T any](t *testing.T, table anyTable[T], p partPlan) (set func(q store.Queue, h store.Handle[T], v C), get func(h store.Handle[T]) (*C, bool)) {
	t.Helper()
	o := store.ColumnOptions[C]{Name: p.name}
	if p.optional {
		s := addSparse(t, table, o)
		return s.Set, s.Get
	}
	c := addColumn(t, table.(packed[T]).Table, o)
	return c.Set, c.Get
}

// writeParts returns a snapshot of n items with these components, their handles, and the
// migrated values.
func writeParts[T any](t *testing.T, stable bool, plans []partPlan, n int, value func(part string, i int) T, grown func(v T) secondPart) (b []byte, ids []store.ID, want []secondPart) {
	t.Helper()
	s := newStore(t, store.Options{Workers: 1})
	table := newKind[T](t, s, stable)
	var sets []func(q store.Queue, h store.Handle[T], i int)
	for _, p := range plans {
		if p.before == 1 {
			set, _ := addPart[firstPart](t, table, p)
			sets = append(sets, func(q store.Queue, h store.Handle[T], i int) { set(q, h, firstOf(p.name, i)) })
		} else {
			set, _ := addPart[secondPart](t, table, p)
			sets = append(sets, func(q store.Queue, h store.Handle[T], i int) { set(q, h, secondOf(p.name, i)) })
		}
	}
	q := queues(t, s, 1)[0]
	var hs []store.Handle[T]
	for i := range n {
		h := table.Emplace(q, value("items", i))
		for k, set := range sets {
			if !plans[k].optional || plans[k].hasOptional(i) {
				set(q, h, i)
			}
		}
		hs, want = append(hs, h), append(want, grown(value("items", i)))
	}
	flush(t, s)
	for _, h := range hs {
		ids = append(ids, resolve(t, table, h).ID)
	}
	return image(t, s), ids, want
}

func newKind[T any](t *testing.T, s *store.Store, stable bool) anyTable[T] {
	t.Helper()
	return registerKind(t, s, store.TableOptions[T]{Name: "table", Shards: 2}, stable)
}

// Each component is unchanged, grown, removed or new, in any order of registration.
func TestLoad_MigratesComponentsIndependently(t *testing.T) {
	rounds := uint64(300)
	if testing.Short() {
		rounds = 60
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(seed, 12))
		stable, items := r.IntN(2) == 0, 1+r.IntN(2)
		var before, after []partPlan
		for k := range 1 + r.IntN(6) {
			versions := [][2]int{{2, 2}, {1, 2}, {1, 0}, {2, 0}, {0, 2}}[r.IntN(5)]
			p := partPlan{fmt.Sprintf("part%.*s", k, "........"), stable || r.IntN(2) == 0, versions[0], versions[1]}
			if p.before > 0 {
				before = append(before, p)
			}
			if p.after > 0 {
				after = append(after, p)
			}
		}
		r.Shuffle(len(before), func(i, k int) { before[i], before[k] = before[k], before[i] })
		r.Shuffle(len(after), func(i, k int) { after[i], after[k] = after[k], after[i] })
		n := r.IntN(40)
		b, ids, want := writeParts(t, stable, before, n, secondOf, func(v secondPart) secondPart { return v })
		if items == 1 {
			b, ids, want = writeParts(t, stable, before, n, firstOf, firstPart.grown)
		}
		s := newStore(t, store.Options{Workers: 1})
		table := newKind[secondPart](t, s, stable)
		var gets []func(h store.Handle[secondPart]) (*secondPart, bool)
		for _, p := range after {
			_, get := addPart[secondPart](t, table, p)
			gets = append(gets, get)
		}
		if err := s.Load(context.Background(), bytes.NewReader(b)); err != nil {
			t.Fatalf("seed %d, items %d, before %+v, after %+v: %v", seed, items, before, after, err)
		}
		if err := s.Verify(context.Background()); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i, id := range ids {
			h := store.Handle[secondPart]{ID: id}
			is := func(what string, got *secondPart, ok, has bool, want secondPart) {
				if ok != has || ok && fmt.Sprint(*got) != fmt.Sprint(want) {
					t.Fatalf("seed %d: %s of item %d: %v, %t, want %v, %t; items %d, before %+v, after %+v",
						seed, what, i, got, ok, want, has, items, before, after)
				}
			}
			got, ok := table.Get(h)
			is("items", got, ok, true, want[i])
			for k, p := range after {
				got, ok := gets[k](h)
				has, want := !p.optional || p.before > 0 && p.hasOptional(i), secondPart{}
				switch p.before {
				case 1:
					want = firstOf(p.name, i).grown()
				case 2:
					want = secondOf(p.name, i)
				}
				is(p.name, got, ok, has, want)
			}
		}
		sum := digest(t, s)
		if err := s.Load(context.Background(), bytes.NewReader(image(t, s))); err != nil || digest(t, s) != sum {
			t.Fatalf("seed %d: saved and loaded: %v", seed, err)
		}
	}
}
