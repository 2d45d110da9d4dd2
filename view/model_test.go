package view_test

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"handloom/store"
	"handloom/view"
)

type unit struct{ N int }

type handle = store.Handle[unit]

// field is a store with each kind of resource that a View has.
type field struct {
	*store.Store
	*rand.Rand
	units   *store.Table[unit]
	rocks   *store.StableTable[unit]
	health  *store.Column[unit, unit]
	burning *store.Sparse[unit, unit]
	known   []handle // of units; some are stale
	stones  []handle // of rocks
	saved   store.Checkpoint
	salt    int
}

func newField(seed uint64) *field {
	f := &field{Store: store.New(store.Options{Workers: 1 + int(seed%3)}), Rand: rand.New(rand.NewPCG(seed, 1))}
	f.units = store.Register(f.Store, store.TableOptions[unit]{Name: "unit", Shards: 3, ChunkItems: 4, Changes: true})
	f.rocks = store.RegisterStable(f.Store, store.TableOptions[unit]{Name: "rock", Shards: 2, ChunkItems: 4, Changes: true})
	f.health = store.AddColumn(f.units, store.ColumnOptions[unit]{Name: "health", Changes: true})
	f.burning = store.AddSparse[unit](f.units, store.ColumnOptions[unit]{Name: "burning", Changes: true})
	return f
}

// fresh returns a value that nothing had before.
func (f *field) fresh() int {
	f.salt++
	return f.salt << 24
}

// chosen returns a fresh value for a quarter of the items, without random numbers, which tasks
// must not share.
func chosen(h handle, salt int) (v int, ok bool) {
	x := (uint64(h.ID) + uint64(salt)>>24) * 0x9e3779b97f4a7c15
	return salt | int(h.ID.TypeID())<<16 | int(h.ID.Slot()), x>>62 == 0
}

func (f *field) some(hs []handle) handle {
	if len(hs) == 0 {
		return handle{}
	}
	return hs[f.IntN(len(hs))]
}

// write writes in place and notes it.
func (f *field) write(ctx context.Context) error {
	salt := f.fresh()
	switch f.IntN(4) {
	case 0:
		return f.units.ForEach(ctx, func(c store.Chunk[unit]) {
			for i := range c.Items {
				if v, ok := chosen(c.Handle(i), salt); ok {
					c.Items[i].N = v
					c.Wrote(i)
				}
			}
		})
	case 1:
		return f.rocks.ForEach(ctx, func(c store.StableChunk[unit]) {
			for h, p := range c.All() {
				if v, ok := chosen(h, salt); ok {
					p.N = v
					c.Wrote(h)
				}
			}
		})
	case 2:
		return f.units.ForEachRows(ctx, func(c store.Chunk[unit]) {
			health := f.health.Write(c)
			for i := range c.Items {
				if v, ok := chosen(c.Handle(i), salt); ok {
					health[i].N = v
					f.health.Wrote(c, i)
				}
			}
		})
	}
	return f.burning.ForEach(ctx, func(c store.SparseChunk[unit, unit]) {
		for i, h := range c.Owners {
			if v, ok := chosen(h, salt); ok {
				c.Items[i].N = v
				c.Wrote(i)
			}
		}
	})
}

// record records commands for a few items.
func (f *field) record(ctx context.Context) error {
	return f.Do(ctx, func(q store.Queue) {
		for range f.IntN(6) {
			v, h, rock := f.fresh(), f.some(f.known), f.some(f.stones)
			switch f.IntN(9) {
			case 0, 1:
				created := f.units.Emplace(q, unit{v})
				f.health.Set(q, created, unit{v + 1})
				if f.IntN(2) == 0 {
					f.burning.Set(q, created, unit{v + 2})
				}
			case 2:
				f.rocks.Emplace(q, unit{v})
			case 3:
				q.Erase([]handle{h, rock}[f.IntN(2)].ID)
			case 4:
				f.units.Put(q, h, unit{v})
			case 5:
				f.rocks.Put(q, rock, unit{v})
			case 6:
				f.health.Set(q, h, unit{v})
			case 7:
				f.burning.Set(q, h, unit{v})
			case 8:
				f.burning.Unset(q, h)
			}
		}
	})
}

// atOnce changes tables with a Writer.
func (f *field) atOnce(w *store.Writer) {
	for range f.IntN(4) {
		v, h, rock := f.fresh(), f.some(f.known), f.some(f.stones)
		switch f.IntN(20) {
		case 0:
			f.rocks.Clear(w)
		case 1, 2, 3, 4:
			f.units.Insert(w, unit{v})
		case 5, 6, 7, 8:
			f.rocks.Insert(w, unit{v})
		case 9, 10, 11:
			f.units.Remove(w, h)
		case 12, 13, 14:
			f.rocks.Remove(w, rock)
		case 15, 16, 17:
			f.burning.Put(w, h, unit{v})
		default:
			f.burning.Remove(w, h)
		}
	}
}

func keys(seq iter.Seq2[handle, *unit]) iter.Seq[handle] {
	return func(yield func(handle) bool) {
		seq(func(h handle, _ *unit) bool { return yield(h) })
	}
}

var errRefused = errors.New("refused")

// frame is a Frame, which may fail, or something else. Only a Frame begins every list for sure; until
// then items of a pass may be listed again.
func (f *field) frame(ctx context.Context) (begins bool, err error) {
	switch f.IntN(12) {
	case 0:
		return false, f.write(ctx)
	case 1:
		return false, f.record(ctx)
	case 2:
		_, err = f.Flush(ctx)
		return false, err
	case 3:
		return false, f.Write(ctx, f.atOnce)
	case 4:
		if f.IntN(2) == 0 {
			return false, f.Checkpoint(ctx, &f.saved)
		}
		if err = f.Rollback(ctx, &f.saved); errors.Is(err, store.ErrCheckpoint) {
			err = nil
		}
		return false, err
	}
	begins = true
	_, err = f.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
		for range 1 + f.IntN(4) {
			switch err := error(nil); f.IntN(5) {
			case 0:
				f.atOnce(w)
			case 1:
				if _, err = f.Flush(ctx); err != nil {
					return err
				}
			case 2:
				if err = f.record(ctx); err != nil {
					return err
				}
			default:
				if err = f.write(ctx); err != nil {
					return err
				}
			}
		}
		if f.IntN(8) == 0 {
			begins = false
			return errRefused
		}
		return nil
	})
	if errors.Is(err, errRefused) {
		err = nil
	}
	f.known = append(f.known[max(0, len(f.known)-5):], slices.Collect(keys(f.units.All()))...)
	f.stones = append(f.stones[max(0, len(f.stones)-5):], slices.Collect(keys(f.rocks.All()))...)
	return begins, err
}

// A message is a Delta on its way.
type message struct {
	number uint64
	reset  bool
	values map[handle]unit
	left   []handle
}

// mirror is a client.
type mirror struct {
	client *view.Client[unit, unit]
	has    map[handle]unit
	number uint64
	way    []message
	acks   []uint64
	acked  uint64                     // arrived at the server
	sees   map[uint64]map[handle]unit // the items in view, by Delta
	lost   uint64                     // a Delta after which anything may count as changed
	start  uint64                     // Deltas are Resets until this or a later one is acknowledged
}

// take follows the rules of the package comment.
func (m *mirror) take(t *testing.T, d message) {
	if d.number > m.number {
		m.number = d.number
		if d.reset {
			clear(m.has)
		}
		maps.Copy(m.has, d.values)
		for _, h := range d.left {
			delete(m.has, h)
		}
		if !maps.Equal(m.has, m.sees[d.number]) {
			t.Fatalf("after Delta %d (reset %t): got %v, want %v", d.number, d.reset, m.has, m.sees[d.number])
		}
	}
	m.acks = append(m.acks, d.number)
}

// audience has the clients of a View.
type audience struct {
	*view.View[unit, unit]
	at      func(h handle) (*unit, bool)
	items   func() []handle
	mirrors []*mirror
}

const keep = 5

func (f *field) audiences() []*audience {
	return []*audience{
		{View: view.New(f.units, keep), at: f.units.Get, items: func() []handle { return f.known }},
		{View: view.New(f.rocks, keep), at: f.rocks.Get, items: func() []handle { return f.stones }},
		{View: view.Of(f.units, f.health, keep), at: f.health.Get, items: func() []handle { return f.known }},
		{View: view.Of(f.units, f.burning, keep), at: f.burning.Get, items: func() []handle { return f.known }},
	}
}

// update makes a Delta for each client that this frame concerns, in parallel.
func (a *audience) update(ctx context.Context, t *testing.T, f *field, lost bool) {
	a.Advance(ctx)
	var group sync.WaitGroup
	for _, m := range a.mirrors {
		if lost {
			m.lost = uint64(len(m.sees)) + 1
		}
		if f.IntN(4) == 0 {
			continue
		}
		of, sees := []handle{{}}, map[handle]unit{}
		for _, h := range a.items() {
			if f.IntN(3) > 0 {
				of = append(of, h)
				if v, ok := a.at(h); ok {
					sees[h] = *v
				}
			}
		}
		f.Rand.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		group.Go(func() { m.send(t, m.client.Update(ctx, slices.Values(of)), sees) })
	}
	group.Wait()
}

// send checks that d has nothing that the client has for sure, and puts it on the way.
func (m *mirror) send(t *testing.T, d view.Delta[unit, unit], sees map[handle]unit) {
	out := message{number: d.Number, reset: d.Reset, values: map[handle]unit{}}
	m.sees[d.Number] = sees
	for h, v := range d.Entered {
		out.values[h] = *v
	}
	for h, v := range d.Changed {
		if m.sees[m.acked][h] == *v && m.lost <= m.acked {
			t.Errorf("Delta %d: %v has not changed since Delta %d", d.Number, h, m.acked)
		}
		out.values[h] = *v
	}
	for range d.Left {
		break // a loop may end early
	}
	out.left = slices.Collect(d.Left)
	for _, h := range out.left {
		had := false
		for n := m.acked; n < d.Number && !had; n++ {
			_, had = m.sees[n][h]
		}
		if _, is := sees[h]; is || !had || d.Reset {
			t.Errorf("Delta %d (reset %t): %v left; in view %t, before %t", d.Number, d.Reset, h, is, had)
		}
	}
	if d.Number-max(m.acked, m.start) > keep {
		m.start = d.Number
	}
	if d.Reset != (m.acked < m.start) {
		t.Errorf("Delta %d after Delta %d, first Reset %d: got reset %t", d.Number, m.acked, m.start, d.Reset)
	}
	if order := slices.Collect(keys(d.Entered)); !slices.IsSortedFunc(order, byID) || !slices.IsSortedFunc(out.left, byID) {
		t.Errorf("Delta %d: got %v and %v, want the order of handles", d.Number, order, out.left)
	}
	for h := range sees {
		stayed := !d.Reset
		for n := m.acked; n < d.Number && stayed; n++ {
			_, stayed = m.sees[n][h]
		}
		if _, sent := out.values[h]; sent && stayed && contains(d.Entered, h) {
			t.Errorf("Delta %d: %v entered, but is in view since Delta %d", d.Number, h, m.acked)
		}
	}
	m.way = append(m.way, out)
}

func byID(a, b handle) int { return cmp.Compare(a.ID, b.ID) }

func contains(seq iter.Seq2[handle, *unit], want handle) bool {
	for h := range seq {
		if h == want {
			return true
		}
	}
	return false
}

// deliver delivers some messages late, twice, in any order or not at all, both ways.
func (m *mirror) deliver(t *testing.T, r *rand.Rand, quiet bool) {
	r.Shuffle(len(m.way), func(i, j int) { m.way[i], m.way[j] = m.way[j], m.way[i] })
	m.way = slices.DeleteFunc(m.way, func(d message) bool {
		if !quiet && r.IntN(3) > 0 {
			m.take(t, d)
		}
		return r.IntN(3) > 0
	})
	m.acks = slices.DeleteFunc(m.acks, func(n uint64) bool {
		if r.IntN(3) > 0 {
			if err := m.client.Acknowledge(n); err != nil {
				t.Error(err)
			}
			m.acked = max(m.acked, n)
		}
		return r.IntN(2) > 0
	})
}

func play(t *testing.T, seed uint64) {
	f := newField(seed)
	defer func() { _, _ = f.Close(t.Context()) }()
	all := f.audiences()
	for _, a := range all {
		for range 3 {
			a.mirrors = append(a.mirrors, &mirror{client: a.Client(), has: map[handle]unit{}, start: 1, sees: map[uint64]map[handle]unit{}})
		}
	}
	exact, quiet := false, 0
	for range 60 {
		begins, err := f.frame(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if f.IntN(5) == 0 {
			exact = false // Advance misses this frame
			continue
		}
		err = f.Read(t.Context(), func(ctx context.Context) error {
			for _, a := range all {
				a.update(ctx, t, f, !exact || !begins)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		exact = begins
		if quiet--; quiet < 0 && f.IntN(20) == 0 {
			quiet = f.IntN(3 * keep)
		}
		for _, a := range all {
			for _, m := range a.mirrors {
				m.deliver(t, f.Rand, quiet >= 0)
			}
		}
	}
}

// After every Delta that a client takes, its mirror equals the items in view, although others were lost,
// late or repeated. No Delta has an item that the client surely has.
func TestView_MirrorsAreComplete(t *testing.T) {
	for seed := range uint64(200) {
		if play(t, seed); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzView(f *testing.F) {
	f.Add(uint64(1000))
	f.Fuzz(play)
}
