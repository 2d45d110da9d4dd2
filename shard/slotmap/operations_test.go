package slotmap_test

import (
	"errors"
	"slices"

	"handloom/shard/handle"
	"handloom/shard/slotmap"
)

// operations are everything that can be done to a map, each with what the
// models say of it.
func (h *history[T]) operations() map[string]func() {
	return map[string]func(){
		"Insert":       h.insertOne,
		"InsertFunc":   h.insertFunc,
		"InsertItems":  h.insertItems,
		"EmplaceItems": h.emplaceItems,
		"Lookup":       h.lookup,
		"Write":        h.write,
		"Erase":        h.eraseOne,
		"Take":         h.take,
		"EraseItems":   h.eraseItems,
		"EraseFunc":    h.eraseFunc,
		"EraseMarked":  h.eraseMarked,
		"Backward":     h.eraseBackward,
		"Clear":        h.rarely((*history[T]).clearAll),
		"Reset":        h.rarely((*history[T]).resetAll),
		"Reserve":      h.reserve,
		"ReserveMore":  h.reserveMore,
		"Shrink":       h.shrink,
		"Clone":        h.clone,
		"Save":         h.save,
		"Restore":      h.restore,
		"CanInsert":    h.canInsert,
	}
}

// rarely lets a map grow old between two operations that empty it.
func (h *history[T]) rarely(empty func(*history[T])) func() {
	return func() {
		if h.below(8, "really") == 0 {
			empty(h)
		} else {
			h.insertOne()
		}
	}
}

// full checks the error of an insert of n items and reports whether it failed.
func (h *history[T]) full(n int, err error) bool {
	h.Helper()
	if n == 0 || h.exact.fits(n) {
		if err != nil {
			h.Fatalf("insert of %d: %v", n, err)
		}
		return false
	}
	if !errors.Is(err, slotmap.ErrFull) {
		h.Fatalf("insert of %d items into a full map: %v", n, err)
	}
	return true
}

func (h *history[T]) insertOne() {
	value := h.value()
	hd, err := h.m.Insert(h.item(value))
	if !h.full(1, err) {
		h.inserted(hd.ID, value)
	}
}

func (h *history[T]) insertFunc() {
	value := h.value()
	var seen handle.Of[T]
	hd, err := h.m.InsertFunc(func(hd handle.Of[T], v *T) {
		if seen = hd; h.m.Has(hd) {
			h.Fatalf("%v resolves before its item exists", hd)
		}
		*v = h.item(value)
	})
	if h.full(1, err) {
		return
	}
	if seen != hd {
		h.Fatalf("the callback is told %v, the caller %v", seen, hd)
	}
	h.inserted(hd.ID, value)
}

func (h *history[T]) insertItems() {
	items := make([]T, h.below(8, "n"))
	first := h.values + 1
	for i := range items {
		items[i] = h.item(h.value())
	}
	hs, err := h.m.InsertItems(items, nil)
	if !h.full(len(items), err) {
		for i := range items {
			h.inserted(hs[i].ID, first+uint64(i))
		}
	}
}

func (h *history[T]) emplaceItems() {
	n := h.below(8, "n")
	panicAt := h.below(16, "panic at")
	first := h.values + 1
	h.values += uint64(n)
	var seen, hs []handle.Of[T]
	var err error
	panicked := panicOf(func() {
		hs, err = h.m.EmplaceItems(n, func(i int, hd handle.Of[T], v *T) {
			*v = h.item(first + uint64(i))
			if seen = append(seen, hd); i == panicAt {
				panic("on purpose")
			}
		}, nil)
	})
	if panicked != nil || h.full(n, err) {
		return // check finds out whether anything was inserted
	}
	if !slices.Equal(hs, seen) {
		h.Fatalf("the callback is told %v, the caller %v", seen, hs)
	}
	for i, hd := range hs {
		h.inserted(hd.ID, first+uint64(i))
	}
}

func (h *history[T]) lookup() {
	id := h.anyHandle()
	hd := handle.Of[T]{ID: id}
	value, live := h.abstract.live[id]
	wantRow, exact := h.exact.rowOf(id)
	row, rowed := h.m.RowOf(hd)
	v, ok := h.m.Get(hd)
	called := h.m.Call(hd, func(at *T) {
		if at != v {
			h.Fatalf("%v: Call and Get differ", hd)
		}
	})
	if ok != live || exact != live || h.m.Has(hd) != live || rowed != live || called != live {
		h.Fatalf("%v: lookups disagree, live: %t", hd, live)
	}
	if live && (row != wantRow || !h.same(*v, value) || h.m.At(hd) != v) {
		h.Fatalf("%v: row %d holds %v, want row %d and number %d", hd, row, *v, wantRow, value)
	}
	if _, stale := panicOf(func() { h.m.At(hd) }).(*slotmap.StaleError); stale == live {
		h.Fatalf("%v: At is stale: %t", hd, stale)
	}
}

// write changes an item in place.
func (h *history[T]) write() {
	if len(h.exact.rows()) == 0 {
		return
	}
	row, value := h.anyRow(), h.value()
	hd := h.m.HandleAt(row)
	switch h.below(3, "way") {
	case 0:
		*h.m.At(hd) = h.item(value)
	case 1:
		for _, v := range h.m.Range(row, row+1) {
			*v = h.item(value)
		}
	case 2:
		h.m.Call(hd, func(v *T) { *v = h.item(value) })
	}
	h.exact.slots[row].value = value
	h.abstract.live[hd.ID] = value
}

func (h *history[T]) eraseOne() {
	id := h.anyHandle()
	row, live := h.exact.rowOf(id)
	if h.m.Erase(handle.Of[T]{ID: id}) != live {
		h.Fatalf("Erase of %v, live: %t", id, live)
	}
	if live {
		h.erased(row)
	}
}

func (h *history[T]) take() {
	id := h.anyHandle()
	row, live := h.exact.rowOf(id)
	v, ok := h.m.Take(handle.Of[T]{ID: id})
	if ok != live {
		h.Fatalf("Take of %v, live: %t", id, live)
	}
	if live {
		if !h.same(v, h.exact.slots[row].value) {
			h.Fatalf("Take of %v gives %v", id, v)
		}
		h.erased(row)
	}
}

// someRows chooses handles of every sort and returns the rows they name.
func (h *history[T]) someRows() (ids []handle.ID, rows []int) {
	for range h.below(9, "n") {
		id := h.anyHandle()
		ids = append(ids, id)
		if row, ok := h.exact.rowOf(id); ok && !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	return ids, rows
}

func (h *history[T]) eraseItems() {
	ids, rows := h.someRows()
	var hs []handle.Of[T]
	for _, id := range ids {
		hs = append(hs, handle.Of[T]{ID: id})
	}
	if n := h.m.EraseItems(hs); n != len(rows) {
		h.Fatalf("EraseItems(%v) erases %d, want %d", hs, n, len(rows))
	}
	h.erased(rows...)
}

func (h *history[T]) eraseMarked() {
	ids, rows := h.someRows()
	var marks slotmap.Marks
	before, depleting := h.m.Digest(), 0
	marked := map[handle.ID]bool{}
	for _, id := range ids {
		want := slotmap.Stale
		if _, live := h.abstract.live[id]; marked[id] {
			want = slotmap.Again
		} else if live {
			want = slotmap.Marked
			if marked[id] = true; int(id.Generation()) == h.exact.last {
				depleting++
			}
		}
		if got := h.m.Mark(&marks, id); got != want || h.m.IsMarked(&marks, id) != marked[id] {
			h.Fatalf("Mark of %v says %v, want %v", id, got, want)
		}
	}
	if marks.Len() != len(rows) || marks.Depleting() != depleting || h.m.Digest() != before {
		h.Fatalf("%d marked, %d depleting, want %d and %d", marks.Len(), marks.Depleting(), len(rows), depleting)
	}
	n := h.below(20, "n")
	promised := h.m.CanInsert(n, marks.Len(), marks.Depleting())
	if erased := h.m.EraseMarked(&marks); erased != len(rows) || marks.Len() != 0 {
		h.Fatalf("EraseMarked erases %d, want %d", erased, len(rows))
	}
	h.erased(rows...)
	if fits := h.exact.fits(n); (promised == nil) != fits {
		h.Fatalf("before the erase %d items fitted: %v; after it: %t", n, promised, fits)
	}
}

func (h *history[T]) eraseFunc() {
	divisor, panicAt := 1+h.below(4, "divisor"), h.below(32, "panic at")
	var rows []int
	visited, erased, all := 0, 0, h.exact.rows()
	panicked := panicOf(func() {
		erased = h.m.EraseFunc(func(hd handle.Of[T], v *T) bool {
			row := all[visited]
			if visited++; hd.ID != h.exact.id(row) || !h.same(*v, h.exact.slots[row].value) {
				h.Fatalf("visit of row %d is of %v", row, hd)
			}
			if visited-1 == panicAt {
				panic("on purpose")
			}
			if h.exact.slots[row].value%uint64(divisor) != 0 {
				return false
			}
			rows = append(rows, row)
			return true
		})
	})
	if panicked != nil {
		return
	}
	if visited != len(all) || erased != len(rows) {
		h.Fatalf("%d visits, %d erased, want %d and %d", visited, erased, len(all), len(rows))
	}
	h.erased(rows...)
}

// eraseBackward erases single items, so that slots are freed last row first.
func (h *history[T]) eraseBackward() {
	divisor := 1 + h.below(4, "divisor")
	visited := map[handle.ID]bool{}
	for hd := range h.m.Backward() {
		visited[hd.ID] = true
		if row, live := h.exact.rowOf(hd.ID); !live {
			h.Fatalf("Backward visits %v, which is not live", hd)
		} else if h.exact.slots[row].value%uint64(divisor) == 0 {
			h.m.Erase(hd)
			h.erased(row)
		}
	}
	for id := range h.abstract.live {
		if !visited[id] {
			h.Fatalf("Backward does not visit %v", id)
		}
	}
}

func (h *history[T]) clearAll() {
	h.m.Clear()
	h.exact.clear()
	clear(h.abstract.live)
}

func (h *history[T]) resetAll() {
	h.m.Reset()
	h.exact.reset()
	clear(h.abstract.live)
}

func (h *history[T]) reserve() {
	before, n := h.m.Digest(), h.below(40, "n")
	h.m.Reserve(n)
	room := n // as far as there can be so many items
	if e := h.exact; e.maxItems > 0 {
		room = min(room, e.maxItems)
	}
	if uint64(room) <= h.exact.limit && h.m.Cap() < room || h.m.Digest() != before {
		h.Fatalf("Reserve(%d) left capacity %d, or changed the map", n, h.m.Cap())
	}
}

func (h *history[T]) reserveMore() {
	before, n := h.m.Digest(), h.below(20, "n")
	h.m.ReserveMore(n)
	if h.exact.fits(n) && !h.m.HasRoom(n) || h.m.Digest() != before {
		h.Fatalf("ReserveMore(%d) makes no room for so many, or changed the map", n)
	}
}

func (h *history[T]) shrink() {
	before := h.m.Digest()
	h.m.Shrink()
	if h.m.Cap() < h.m.Rows() || h.m.Digest() != before {
		h.Fatalf("Shrink left capacity %d for %d rows, or changed the map", h.m.Cap(), h.m.Rows())
	}
}

// clone goes on with the copy and spoils the original, or the other way round.
func (h *history[T]) clone() {
	kept, spoiled := h.m.Clone(), h.m
	if kept.Digest() != spoiled.Digest() {
		h.Fatal("a clone has another digest than its original")
	}
	if h.below(2, "keep the original") == 1 {
		kept, spoiled = spoiled, kept
	}
	h.m = kept
	spoiled.Insert(h.item(0))
	spoiled.EraseFunc(func(_ handle.Of[T], v *T) bool { *v = h.item(0); return true })
	verify(h, spoiled)
}

func (h *history[T]) canInsert() {
	n := 1 + h.below(20, "n")
	if err := h.m.CanInsert(n, 0, 0); h.full(n, err) != (err != nil) {
		h.Fatalf("CanInsert(%d) says %v", n, err)
	}
}
