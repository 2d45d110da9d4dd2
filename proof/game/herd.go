package game

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"

	"handloom/store"
	"handloom/world"
)

// A Herd is a program with the kinds of data that a [Game] lacks: a column, optional data
// of both kinds of tables, and lists of changes. Its ticks read the lists before, between
// and after their flushes, and add them to a sum that stays.
type Herd struct {
	*store.Store
	beasts *store.Table[beast]
	weight *store.Column[beast, int32]
	scent  *store.Column[beast, uint16]
	marked *store.Sparse[beast, mark]
	pens   *store.StableTable[pen]
	locked *store.Sparse[pen, uint32]
	sums   *store.Table[sum]
}

type (
	beast struct {
		Age int32
		Pen store.Handle[pen]
		Key uint64 // of the call that made it, or 0
	}
	mark struct {
		By   store.Handle[beast]
		Name string
	}
	pen struct{ Room int32 }

	// A sum has all entries of all lists so far, and their number.
	sum struct{ Sum, Entries uint64 }
)

// NewHerd returns a herd of no beasts.
func NewHerd(workers int) (*Herd, error) {
	s, err := store.New(store.Options{Workers: workers})
	if err != nil {
		return nil, err
	}
	h := &Herd{Store: s}
	var errs [7]error
	h.beasts, errs[0] = store.Register(s, store.TableOptions[beast]{Name: "beasts", Shards: 3, ChunkItems: 8, MinFree: 4, Changes: true})
	h.pens, errs[1] = store.RegisterStable(s, store.TableOptions[pen]{Name: "pens", Shards: 2, Changes: true})
	h.sums, errs[2] = store.Register(s, store.TableOptions[sum]{Name: "sums"})
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	h.weight, errs[3] = store.AddColumn(h.beasts, store.ColumnOptions[int32]{Name: "weight", Changes: true})
	h.scent, errs[4] = store.AddColumn(h.beasts, store.ColumnOptions[uint16]{Name: "scent", Changes: true})
	h.marked, errs[5] = store.AddSparse(h.beasts, store.ColumnOptions[mark]{Name: "marked"})
	h.locked, errs[6] = store.AddSparse(h.pens, store.ColumnOptions[uint32]{Name: "locked"})
	return h, errors.Join(errs[:]...)
}

// Join returns a call that adds a beast in a pen of its own, with a weight and a mark.
func (h *Herd) Join(key uint64) func(q store.Queue) error {
	return func(q store.Queue) error {
		p := h.pens.Emplace(q, pen{Room: int32(key % 7)})
		b := h.beasts.Emplace(q, beast{Pen: p, Key: key})
		h.weight.Set(q, b, int32(key))
		h.marked.Set(q, b, mark{By: b, Name: "call"})
		h.locked.Set(q, p, uint32(key))
		return nil
	}
}

// Init is that of [world.Options].
func (h *Herd) Init(_ context.Context, w *store.Writer) error {
	if _, err := h.sums.Insert(w, sum{}); err != nil {
		return err
	}
	for n := range int32(40) {
		p, err := h.pens.Insert(w, pen{Room: n})
		if err != nil {
			return err
		}
		if _, err := h.beasts.Insert(w, beast{Age: n, Pen: p}); err != nil {
			return err
		}
	}
	return nil
}

// Entries returns the number of entries that all ticks have read from lists of changes.
func (h *Herd) Entries() (n uint64) {
	for _, s := range h.sums.All() {
		n += s.Entries
	}
	return n
}

// Tick is the program.
func (h *Herd) Tick(ctx context.Context, w *store.Writer, t world.Tick) error {
	h.read() // a tick begins without lists
	for _, step := range []func(ctx context.Context, t world.Tick) error{h.walk, h.weigh, h.build, h.breed, h.unmark} {
		if err := step(ctx, t); err != nil {
			return err
		}
		h.read()
		if _, err := h.Flush(ctx); err != nil {
			return err
		}
		h.read()
	}
	switch t.Seed % 16 {
	case 0:
		h.marked.SortAsTable(w)
	case 1:
		h.beasts.Clear(w)
	case 2:
		h.pens.Clear(w)
	}
	_, _, err := store.Defragment(ctx, h.beasts, w, func(a, b *beast) int { return int(a.Age) - int(b.Age) }, 20)
	h.read()
	return err
}

// read adds every list of changes to the sum.
func (h *Herd) read() {
	for _, s := range h.sums.All() {
		addItems(s, 1, store.Created(h.beasts))
		addItems(s, 2, store.Erased(h.beasts))
		addItems(s, 3, store.Replaced(h.beasts))
		addHandles(s, 4, store.Written(h.beasts))
		addItems(s, 5, store.Created(h.pens))
		addItems(s, 6, store.Erased(h.pens))
		addItems(s, 7, store.Replaced(h.pens))
		addHandles(s, 8, store.Written(h.pens))
		addHandles(s, 9, h.weight.Written())
		addHandles(s, 10, h.scent.Written())
	}
}

func addItems[T any](s *sum, list uint64, of iter.Seq2[store.Handle[T], *T]) {
	for h := range of {
		s.add(list, h.ID)
	}
}

func addHandles[T any](s *sum, list uint64, of iter.Seq[store.Handle[T]]) {
	for h := range of {
		s.add(list, h.ID)
	}
}

func (s *sum) add(list uint64, id store.ID) {
	s.Entries++
	s.Sum = (s.Sum ^ uint64(id) ^ list<<56) * 0x9e3779b97f4a7c15
}

// walk writes beasts in place, and replaces, marks or erases some.
func (h *Herd) walk(ctx context.Context, t world.Tick) error {
	return h.beasts.ForEach(ctx, func(_ context.Context, c store.Chunk[beast]) error {
		r := rand.New(rand.NewPCG(t.Seed, uint64(c.Index)))
		for i := range c.Items {
			b := &c.Items[i]
			switch r.IntN(10) {
			case 0:
				b.Age++
				c.Wrote(i)
			case 1:
				h.beasts.Put(c.Queue, c.Handle(i), beast{Age: b.Age + 10, Pen: b.Pen, Key: b.Key})
			case 2:
				c.Erase(i)
				h.pens.Erase(c.Queue, b.Pen)
			case 3:
				h.marked.Set(c.Queue, c.Handle(i), mark{By: c.Handle(0), Name: "walk"})
			case 4:
				h.scent.Set(c.Queue, c.Handle(i), uint16(b.Age))
			}
		}
		return nil
	})
}

// weigh writes elements of a column in place.
func (h *Herd) weigh(ctx context.Context, t world.Tick) error {
	return h.beasts.ForEachRows(ctx, func(_ context.Context, c store.RowsChunk[beast]) error {
		r := rand.New(rand.NewPCG(t.Seed, uint64(1000+c.Index)))
		weight := h.weight.Write(c)
		for i := range weight {
			if r.IntN(4) == 0 {
				weight[i] += c.Items[i].Age
				h.weight.Wrote(c, i)
			}
		}
		return nil
	})
}

// build writes pens in place, and replaces, locks or unlocks some.
func (h *Herd) build(ctx context.Context, t world.Tick) error {
	return h.pens.ForEach(ctx, func(_ context.Context, c store.StableChunk[pen]) error {
		r := rand.New(rand.NewPCG(t.Seed, uint64(2000+c.Index)))
		for at, p := range c.All() {
			switch r.IntN(8) {
			case 0:
				p.Room++
				c.Wrote(at)
			case 1:
				h.pens.Put(c.Queue, at, pen{Room: p.Room / 2})
			case 2:
				h.locked.Set(c.Queue, at, uint32(p.Room))
			case 3:
				h.locked.Unset(c.Queue, at)
			}
		}
		return nil
	})
}

// breed makes new beasts.
func (h *Herd) breed(ctx context.Context, t world.Tick) error {
	return h.Each(ctx, passTasks, func(_ context.Context, task int, q store.Queue) error {
		r := rand.New(rand.NewPCG(t.Seed, uint64(3000+task)))
		for range r.IntN(6) {
			b := h.beasts.Emplace(q, beast{Pen: h.pens.Emplace(q, pen{Room: r.Int32N(9)})})
			if r.IntN(2) == 0 {
				h.weight.Set(q, b, r.Int32N(90))
			}
		}
		return nil
	})
}

// unmark drops some marks, and writes the others in place.
func (h *Herd) unmark(ctx context.Context, t world.Tick) error {
	return h.marked.ForEach(ctx, func(_ context.Context, c store.SparseChunk[beast, mark]) error {
		r := rand.New(rand.NewPCG(t.Seed, uint64(4000+c.Index)))
		for i := range c.Items {
			if r.IntN(3) == 0 {
				h.marked.Unset(c.Queue, c.Owners[i])
			} else {
				c.Items[i].Name += "."
			}
		}
		return nil
	})
}
