package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"handloom/shard/handle"
	"handloom/store"
)

// Every part of a table is of one of two versions of a type, so that a part that is read
// by the migration of another one shows.
type (
	firstPart struct {
		Num  int16
		Text string
	}
	secondPart struct {
		Text  string
		Extra []uint8
		Num   int64
	}
)

func firstOf(part string, i int) firstPart {
	return firstPart{int16(i*31 - len(part)), fmt.Sprint(part, i)}
}

func secondOf(part string, i int) secondPart {
	return secondPart{fmt.Sprint(part, i), []byte{uint8(i), uint8(len(part))}, int64(i) << 20}
}

// grown is what a value of the first version becomes.
func (v firstPart) grown() secondPart { return secondPart{Text: v.Text, Num: int64(v.Num)} }

// A partPlan says what becomes of a part: an index of a name, and its two versions.
type partPlan struct {
	name     string
	optional bool
	before   int // version that was saved; 0: none
	after    int // version that the store has: 0 or 2
}

// hasOptional reports whether item i has this optional data.
func (p *partPlan) hasOptional(i int) bool { return (i+len(p.name))%3 > 0 }

// addPart adds a part, and returns how it is set and read.
func addPart[C, T any](t *testing.T, table store.TableOf[T], p partPlan) (set func(q store.Queue, h store.Handle[T], v C), get func(h store.Handle[T]) (*C, bool)) {
	t.Helper()
	o := store.ColumnOptions[C]{Name: p.name}
	if p.optional {
		s, err := store.AddSparse(table, o)
		if err != nil {
			t.Fatal(err)
		}
		return s.Set, s.Get
	}
	c := addColumn(t, table.(*store.Table[T]), o)
	return c.Set, c.Get
}

// writeParts returns a snapshot of n items of a version, with these parts, and their
// handles.
func writeParts[T any](t *testing.T, stable bool, plans []partPlan, n int, value func(i int) T) (b []byte, ids []store.Handle[T]) {
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
	err := s.Write(context.Background(), func(_ context.Context, w *store.Writer) error {
		for i := range n {
			var h store.Handle[T]
			var err error
			switch t := table.(type) {
			case *store.Table[T]:
				h, err = t.Insert(w, value(i))
			case *store.StableTable[T]:
				h, err = t.Insert(w, value(i))
			}
			if ids = append(ids, h); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	q := queues(t, s, 1)[0]
	for i, h := range ids {
		for k, set := range sets {
			if !plans[k].optional || plans[k].hasOptional(i) {
				set(q, h, i)
			}
		}
	}
	flush(t, s)
	return image(t, s), ids
}

func newKind[T any](t *testing.T, s *store.Store, stable bool) store.TableOf[T] {
	t.Helper()
	o := store.TableOptions[T]{Name: "table", Shards: 2}
	if stable {
		return registerStable(t, s, o)
	}
	return register(t, s, o)
}

// Items, columns and optional data are unchanged, grown, gone or new, each by itself, in
// any order of registration: each value is what it was, read as what it is.
func TestLoad_MigratesEachPartByItself(t *testing.T) {
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
		var b []byte
		var ids []handle.ID
		want := make([]secondPart, n)
		if items == 1 {
			var hs []store.Handle[firstPart]
			b, hs = writeParts(t, stable, before, n, func(i int) firstPart { return firstOf("items", i) })
			for i, h := range hs {
				ids, want[i] = append(ids, h.ID), firstOf("items", i).grown()
			}
		} else {
			var hs []store.Handle[secondPart]
			b, hs = writeParts(t, stable, before, n, func(i int) secondPart { return secondOf("items", i) })
			for i, h := range hs {
				ids, want[i] = append(ids, h.ID), secondOf("items", i)
			}
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
			got, ok := getItem(table, h)
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
	}
}

func getItem[T any](table store.TableOf[T], h store.Handle[T]) (*T, bool) {
	switch t := table.(type) {
	case *store.Table[T]:
		return t.Get(h)
	case *store.StableTable[T]:
		return t.Get(h)
	}
	return nil, false
}

// A snapshot that has a table twice, of which everything is right, is refused.
func TestLoad_RefusesATableThatIsThereTwice(t *testing.T) {
	s := newStore(t, store.Options{Workers: 1})
	one := register(t, s, store.TableOptions[item]{Name: "one"})
	register(t, s, store.TableOptions[item]{Name: "two"})
	fill(t, s, one, 3)
	b := image(t, s)
	load := func(b []byte) error { return s.Load(context.Background(), bytes.NewReader(b)) }
	if err := load(b); err != nil {
		t.Fatal(err)
	}
	b = withHead(b, func(head []byte) []byte {
		at := bytes.Index(head, []byte("two"))
		copy(head[at:], "one")
		head[at+3] = 1 // the typeId
		return head
	})
	last := framesOf(b)[1]
	binary.LittleEndian.PutUint64(b[last.at+16:], 1<<48)
	b, _ = signed(b)
	if err := load(b); !errors.Is(err, store.ErrSchema) {
		t.Errorf("Load: %v, want ErrSchema", err)
	}
}
