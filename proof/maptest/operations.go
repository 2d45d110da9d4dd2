package maptest

import (
	"errors"
	"maps"
	"slices"

	"handloom/internal/slotset"
	"handloom/shard/handle"
)

// operations are everything that can be done to a map, each with what the
// models say of it.
func (h *history[T]) operations() map[string]func() {
	operations := map[string]func(){
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
	if !h.exact.Stable {
		maps.Copy(operations, h.orderOperations())
	}
	return operations
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
	if !errors.Is(err, slotset.ErrFull) {
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
	dst := make([]handle.Of[T], 1)
	hs, err := h.m.InsertItems(items, dst)
	if h.full(len(items), err) {
		return
	}
	if len(hs) != 1+len(items) || hs[0] != dst[0] {
		h.Fatalf("InsertItems of %d items appends %v to one handle", len(items), hs)
	}
	for i := range items {
		h.inserted(hs[1+i].ID, first+uint64(i))
	}
}

func (h *history[T]) emplaceItems() {
	n := h.below(8, "n")
	panicAt := h.below(16, "panic at")
	first := h.values + 1
	h.values += uint64(n)
	var seen, hs []handle.Of[T]
	var err error
	panicked := PanicOf(func() {
		hs, err = h.m.EmplaceItems(n, func(i int, hd handle.Of[T], v *T) {
			if h.m.Has(hd) {
				h.Fatalf("%v resolves before its item exists", hd)
			}
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
	exact := h.exact.has(id)
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
	if live && (row != h.exact.row(id) || !h.same(*v, value) || h.m.At(hd) != v) {
		h.Fatalf("%v: row %d holds %v, want row %d and number %d", hd, row, *v, h.exact.row(id), value)
	}
	if _, stale := PanicOf(func() { h.m.At(hd) }).(*handle.StaleError); stale == live {
		h.Fatalf("%v: At is stale: %t", hd, stale)
	}
}

// write changes an item in place.
func (h *history[T]) write() {
	ids := h.exact.ids()
	if len(ids) == 0 {
		return
	}
	id, value := ids[h.below(len(ids), "item")], h.value()
	row := h.exact.row(id)
	hd := h.m.HandleAt(row)
	switch h.below(3, "way") {
	case 0:
		*h.m.At(hd) = h.item(value)
	case 1:
		*itemAt(h.m, row) = h.item(value)
	case 2:
		h.m.Call(hd, func(v *T) { *v = h.item(value) })
	}
	*h.exact.Get(uint64(id)) = value
	h.abstract.live[hd.ID] = value
	h.report(hd)
}

func (h *history[T]) eraseOne() {
	id := h.anyHandle()
	live := h.exact.has(id)
	if h.m.Erase(handle.Of[T]{ID: id}) != live {
		h.Fatalf("Erase of %v, live: %t", id, live)
	}
	if live {
		h.erased(id)
	}
}

func (h *history[T]) take() {
	id := h.anyHandle()
	live := h.exact.has(id)
	v, ok := h.m.Take(handle.Of[T]{ID: id})
	if ok != live {
		h.Fatalf("Take of %v, live: %t", id, live)
	}
	if live {
		if !h.same(v, h.exact.value(id)) {
			h.Fatalf("Take of %v gives %v", id, v)
		}
		h.erased(id)
	}
}

// someItems chooses handles of every sort and returns, once each, those that name
// an item.
func (h *history[T]) someItems() (ids, live []handle.ID) {
	for range h.below(9, "n") {
		id := h.anyHandle()
		ids = append(ids, id)
		if h.exact.has(id) && !slices.Contains(live, id) {
			live = append(live, id)
		}
	}
	return ids, live
}

func (h *history[T]) eraseItems() {
	ids, named := h.someItems()
	var hs []handle.Of[T]
	for _, id := range ids {
		hs = append(hs, handle.Of[T]{ID: id})
	}
	if n := h.m.EraseItems(hs); n != len(named) {
		h.Fatalf("EraseItems(%v) erases %d, want %d", hs, n, len(named))
	}
	h.erased(named...)
}

func (h *history[T]) eraseMarked() {
	ids, named := h.someItems()
	var marks slotset.Bitset
	before, depleting := h.m.Digest(), 0
	marked := map[handle.ID]bool{}
	for _, id := range ids {
		want := slotset.Stale
		if _, live := h.abstract.live[id]; marked[id] {
			want = slotset.Again
		} else if live {
			want = slotset.Marked
			if marked[id] = true; id.Generation() == h.exact.LastGeneration {
				depleting++
			}
		}
		if got := h.m.Core().Mark(&marks, id); got != want || h.m.Core().IsMarked(&marks, id) != marked[id] {
			h.Fatalf("Mark of %v says %v, want %v", id, got, want)
		}
	}
	if marks.Len() != len(named) || marks.Depleting() != depleting || h.m.Digest() != before {
		h.Fatalf("%d marked, %d depleting, want %d and %d", marks.Len(), marks.Depleting(), len(named), depleting)
	}
	n := h.below(20, "n")
	promised := h.m.Core().CanInsert(n, marks.Len(), marks.Depleting())
	if erased := h.m.Core().EraseMarked(&marks); erased != len(named) || marks.Len() != 0 {
		h.Fatalf("EraseMarked erases %d, want %d", erased, len(named))
	}
	h.erased(named...)
	if fits := h.exact.fits(n); (promised == nil) != fits {
		h.Fatalf("before the erase %d items fitted: %v; after it: %t", n, promised, fits)
	}
}

func (h *history[T]) eraseFunc() {
	divisor, panicAt := 1+h.below(4, "divisor"), h.below(32, "panic at")
	var named []handle.ID
	ids := h.exact.ids()
	visited, erased := 0, 0
	panicked := PanicOf(func() {
		erased = h.m.EraseFunc(func(hd handle.Of[T], v *T) bool {
			place := visited
			if visited++; hd.ID != ids[place] || !h.same(*v, h.exact.value(hd.ID)) {
				h.Fatalf("visit %d is of %v", place, hd)
			}
			if place == panicAt {
				panic("on purpose")
			}
			if h.exact.value(hd.ID)%uint64(divisor) != 0 {
				return false
			}
			named = append(named, hd.ID)
			return true
		})
	})
	if panicked != nil {
		return
	}
	if visited != len(ids) || erased != len(named) {
		h.Fatalf("%d visits, %d erased, want %d and %d", visited, erased, len(ids), len(named))
	}
	h.erased(named...)
}

// eraseBackward erases single items: in the packed map the last row fills each
// gap, in the stable one slots are freed last row first.
func (h *history[T]) eraseBackward() {
	divisor := 1 + h.below(4, "divisor")
	visited := map[handle.ID]bool{}
	for hd := range h.m.Backward() {
		if visited[hd.ID] {
			h.Fatalf("Backward visits %v twice", hd)
		}
		visited[hd.ID] = true
		if !h.exact.has(hd.ID) {
			h.Fatalf("Backward visits %v, which is not live", hd)
		} else if h.exact.value(hd.ID)%uint64(divisor) == 0 {
			h.m.Erase(hd)
			h.erased(hd.ID)
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
	h.exact.Clear()
	clear(h.abstract.live)
}

func (h *history[T]) resetAll() {
	h.m.Reset()
	h.exact.Reset()
	clear(h.abstract.live)
}

func (h *history[T]) reserve() {
	before, n := h.m.Digest(), h.below(40, "n")
	h.m.Reserve(n)
	room := n // as far as there can be so many items
	if e := h.exact; e.MaxItems > 0 {
		room = min(room, e.MaxItems)
	}
	if uint64(room) <= h.exact.SlotLimit && h.m.Cap() < room || h.m.Digest() != before {
		h.Fatalf("Reserve(%d) left capacity %d, or changed the map", n, h.m.Cap())
	}
}

func (h *history[T]) reserveMore() {
	before, n := h.m.Digest(), h.below(20, "n")
	h.m.Core().ReserveMore(n)
	if h.exact.fits(n) && !h.m.Core().HasRoom(n) || h.m.Digest() != before {
		h.Fatalf("ReserveMore(%d) makes no room for so many, or changed the map", n)
	}
}

func (h *history[T]) shrink() {
	before := h.m.Digest()
	h.m.Shrink()
	room, rows := h.m.Cap(), h.m.Core().Rows() // a page has room for several rows
	if room < rows || !h.exact.Stable && room > rows || h.m.Digest() != before {
		h.Fatalf("Shrink left capacity %d for %d rows, or changed the map", room, rows)
	}
}

// clone goes on with the copy and spoils the original, or the other way round.
func (h *history[T]) clone() {
	kept, spoiled := h.m.Cloned(), h.m
	if kept.Digest() != spoiled.Digest() {
		h.Fatal("a clone has another digest than its original")
	}
	if h.below(2, "keep the original") == 1 {
		kept, spoiled = spoiled, kept
	}
	h.m = kept
	spoiled.Insert(h.item(0))
	spoiled.EraseFunc(func(_ handle.Of[T], v *T) bool { *v = h.item(0); return true })
	Verify(h, spoiled)
}

func (h *history[T]) canInsert() {
	n := 1 + h.below(20, "n")
	if err := h.m.Core().CanInsert(n, 0, 0); h.full(n, err) != (err != nil) {
		h.Fatalf("CanInsert(%d) says %v", n, err)
	}
}
