package sparse

import (
	"fmt"
	"math/bits"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/items"
	"handloom/internal/slotset"
	"handloom/shard/handle"
)

// Host is the map whose items have the data.
type Host interface {
	Has(id handle.ID) bool
	Rows() int
	RowOf(id handle.ID) (row int, ok bool)
	IDAt(row int) handle.ID // null: there is none
}

// Map is what some items of one map have. New makes one. It is used as its map is: by
// one goroutine, or by any number that only look.
type Map struct {
	Type *items.Type

	index  []uint32    // by slot (N2)
	owners []handle.ID // by row (N1)
	items  items.Slice // by row (N3)
	lent   Host        // of which items may go without a word; nil: none do

	moves   []slotset.Move // scratch of what drops rows
	sorting sorting
}

// New returns data of a type, that no item has.
func New(t *items.Type) *Map { return &Map{Type: t} }

// Find returns the address of what the item that id names has, and whether it has any.
// It takes O(1) time and inlines. C is the type of the data.
func Find[C any](d *Map, id handle.ID) (*C, bool) {
	if slot := uint(uint32(id)); slot < uint(len(d.index)) {
		row := uint(d.index[slot])
		if row < uint(len(d.owners)) && d.owners[row] == id && (d.lent == nil || d.lent.Has(id)) {
			return &(*(*[]C)(unsafe.Pointer(&d.items)))[row], true
		}
	}
	return nil, false
}

// Row returns the row of the item that id names, and whether it has one.
func (d *Map) Row(id handle.ID) (row int, ok bool) {
	if slot := uint(id.Slot()); slot < uint(len(d.index)) {
		row := uint(d.index[slot])
		return int(row), row < uint(len(d.owners)) && d.owners[row] == id
	}
	return 0, false
}

// Has reports whether the item that id names has data.
func (d *Map) Has(id handle.ID) bool {
	_, ok := d.Row(id)
	return ok && (d.lent == nil || d.lent.Has(id))
}

// Rows returns how many rows there are.
func (d *Map) Rows() int { return len(d.owners) }

// Len returns how many items have data: it counts them while items may go without a word.
func (d *Map) Len() int {
	if d.lent == nil {
		return len(d.owners)
	}
	n := 0
	for _, id := range d.owners {
		if d.lent.Has(id) {
			n++
		}
	}
	return n
}

// Owners returns the handles of the items of the rows lo to hi-1, and Range what they
// have, with no room for more.
func (d *Map) Owners(lo, hi int) []handle.ID { return d.owners[lo:hi:hi] }
func (d *Map) Range(lo, hi int) items.Slice  { return d.items.Sub(lo, hi, d.Type.Size) }

// At returns the address of what is in a row.
func (d *Map) At(row int) unsafe.Pointer { return d.items.Pointer(row, d.Type.Size) }

// HasRoom reports whether n more rows, in a map of so many slots, need no array to grow.
func (d *Map) HasRoom(n, slots int) bool {
	return n == 0 || len(d.owners)+n <= d.items.Cap() && slots <= len(d.index)
}

const (
	smallest = 8       // rows that the first growth makes room for
	doubling = 1 << 15 // rows up to which capacity doubles; above, it grows by half
)

// Reserve makes room for n more rows, in a map of so many slots.
func (d *Map) Reserve(n, slots int) {
	if n == 0 {
		return
	}
	d.reserveRows(len(d.owners) + n)
	if had := len(d.index); slots > had {
		index := make([]uint32, roomy(slots, had))
		copy(index, d.index)
		d.index = index
	}
}

func (d *Map) reserveRows(n int) {
	if n <= d.items.Cap() {
		return
	}
	n = roomy(n, d.items.Cap())
	old, rows := d.items, len(d.owners)
	d.items = d.Type.Grown(old, n).Resize(rows)
	d.owners = append(make([]handle.ID, 0, n), d.owners...)
	if check.Full && old.Cap() > 0 && !d.Type.Pointers {
		check.Poison(old.Data(), uintptr(old.Cap())*d.Type.Size)
	}
}

// roomy returns the capacity to grow to from have when need are needed.
func roomy(need, have int) int {
	grown := max(smallest, have*2)
	if have > doubling {
		grown = have + have/2
	}
	return max(need, grown)
}

// Append gives the item that id names a row, which it has none of, and returns where it
// lies, which is zero. There is room.
func (d *Map) Append(id handle.ID) unsafe.Pointer {
	row := len(d.owners)
	d.owners = append(d.owners, id)
	d.items = d.items.Resize(row + 1)
	d.index[id.Slot()] = uint32(row)
	return d.At(row)
}

// Set gives the item that id names a copy of the value at v. There is room.
func (d *Map) Set(id handle.ID, v unsafe.Pointer) {
	if row, ok := d.Row(id); ok {
		d.Type.Set(d.At(row), v)
		return
	}
	d.Type.Set(d.Append(id), v)
}

// Drop takes what the item that id names, which is erased next, has, if it has any. The
// last row takes the place of its row; where items may go without a word, so does this one.
func (d *Map) Drop(id handle.ID) {
	if d.lent == nil {
		d.Remove(id)
	}
}

// Remove takes what an item has, if it has any. The last row takes the place of its row. It
// is not called between DeferSweep and Return, except directly after a Sweep.
func (d *Map) Remove(id handle.ID) {
	row, ok := d.Row(id)
	if !ok {
		return
	}
	last := len(d.owners) - 1
	if row != last {
		d.move(row, last)
		d.Type.Set(d.At(row), d.At(last))
	}
	d.truncate(last)
}

func (d *Map) move(row, from int) {
	owner := d.owners[from]
	d.owners[row] = owner
	d.index[owner.Slot()] = uint32(row)
}

// truncate drops the rows from n on.
func (d *Map) truncate(n int) {
	d.Type.Clear(d.items.Sub(n, len(d.owners), d.Type.Size)) // N3
	d.owners, d.items = d.owners[:n], d.items.Resize(n)
}

// DropMarked drops marked rows: the gaps below the number of rows that stay are filled
// with the rows at or above it that do, both in ascending order. It takes O(marked) time.
func (d *Map) DropMarked(marked *slotset.Bits) {
	if marked.Count() == 0 {
		return
	}
	kept := len(d.owners) - marked.Count()
	from := kept
	d.moves = d.moves[:0]
	for base, word := range marked.Words {
		for ; word != 0; word &= word - 1 {
			row := base + bits.TrailingZeros64(word)
			if row >= kept {
				break
			}
			for marked.Has(from) {
				from++
			}
			d.move(row, from)
			d.moves = append(d.moves, slotset.Move{To: slotset.Row(row), From: slotset.Row(from)})
			from++
		}
	}
	d.Type.Move(d.items, d.moves)
	d.truncate(kept)
}

// Clear drops all rows.
func (d *Map) Clear() { d.truncate(0) }

// Trim gives up scratch memory.
func (d *Map) Trim() { d.moves, d.sorting = nil, sorting{} }

// DeferSweep says that items of the map may go without a word from now on: what they had is
// not found any more, but takes a row until [Map.Sweep].
func (d *Map) DeferSweep(host Host) { d.lent = host }

// Sweep drops the rows of items that went without a word, in O(rows) time. The others keep
// their order, so that it makes no difference how often it is called.
func (d *Map) Sweep() {
	if d.lent == nil {
		return
	}
	kept := 0
	d.moves = d.moves[:0]
	for row, id := range d.owners {
		if !d.lent.Has(id) {
			continue
		}
		if row != kept {
			d.move(kept, row)
			d.moves = append(d.moves, slotset.Move{To: slotset.Row(kept), From: slotset.Row(row)})
		}
		kept++
	}
	d.Type.Move(d.items, d.moves)
	d.truncate(kept)
}

// Return sweeps, and ends what Lend began.
func (d *Map) Return() {
	d.Sweep()
	d.lent = nil
}

// Bytes returns the memory that the data takes, capacity included.
func (d *Map) Bytes() int64 {
	const ownerBytes, indexBytes = 8, 4
	return int64(d.items.Cap())*int64(d.Type.Size) + int64(cap(d.owners))*ownerBytes + int64(len(d.index))*indexBytes
}

// Verify checks every invariant and returns an error that cites the first one broken, or
// nil. It takes O(capacity) time.
func (d *Map) Verify(host Host) error {
	if d.items.Len() != len(d.owners) {
		return fmt.Errorf("N3: %d items of %d owners", d.items.Len(), len(d.owners))
	}
	for row, id := range d.owners {
		if !host.Has(id) {
			return fmt.Errorf("N1: row %d is of %v, which is no item", row, id)
		}
		if at, ok := d.Row(id); !ok || at != row {
			return fmt.Errorf("N2: row %d is of %v, whose slot says row %d", row, id, at)
		}
	}
	all := d.items.Resize(d.items.Cap())
	for row := len(d.owners); row < all.Len(); row++ {
		if !d.Type.IsZero(all.Pointer(row, d.Type.Size)) {
			return fmt.Errorf("N3: the item at row %d, beyond the %d that there are, is not zero", row, len(d.owners))
		}
	}
	return nil
}
