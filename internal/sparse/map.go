package sparse

import (
	"fmt"
	"math/bits"
	"unsafe"

	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// Host is the map that owns the items.
type Host interface {
	Rows() int
	RowOf(id handle.ID) (row int, ok bool)
	IDAt(row int) handle.ID // null if the row is empty
}

// Map stores the data of some items of one map. It has the concurrency rules of its map:
// one writer, or any number of readers.
type Map struct {
	Type *items.Type

	index  []uint32    // by slot (N2)
	owners []handle.ID // by row (N1)
	items  items.Slice // by row (N3)

	changes uint64    // of rows; see slotset.Removed
	removed handle.ID // by the last Remove; null after other removals
	moves   []slotset.Move
	sorting sorting
}

// New returns empty data. It allocates arrays with the first row.
func New(t *items.Type) *Map { return &Map{Type: t} }

// Find takes O(1) time and inlines. C is the type of the data.
func Find[C any](d *Map, id handle.ID) (*C, bool) {
	if slot := uint(uint32(id)); slot < uint(len(d.index)) {
		row := uint(d.index[slot])
		if row < uint(len(d.owners)) && d.owners[row] == id {
			return &(*(*[]C)(unsafe.Pointer(&d.items)))[row], true
		}
	}
	return nil, false
}

// Row returns the row of the item, and whether it has one. An index entry counts only if
// the owner of the row is the item.
func (d *Map) Row(id handle.ID) (row int, ok bool) {
	if slot := uint(id.Slot()); slot < uint(len(d.index)) {
		row := uint(d.index[slot])
		return int(row), row < uint(len(d.owners)) && d.owners[row] == id
	}
	return 0, false
}

// RowsOf sets rows[i] to the row of ids[i], or to [slotset.NoRow]. Two loops, so that cache
// misses of different handles overlap (op=sparseflush).
func (d *Map) RowsOf(ids []handle.ID, rows []slotset.Row) {
	rows = rows[:len(ids)]
	for i, id := range ids {
		rows[i] = slotset.NoRow
		if slot := uint(id.Slot()); slot < uint(len(d.index)) {
			rows[i] = slotset.Row(d.index[slot])
		}
	}
	for i, id := range ids {
		if row := uint(rows[i]); row >= uint(len(d.owners)) || d.owners[row] != id {
			rows[i] = slotset.NoRow
		}
	}
}

func (d *Map) Has(id handle.ID) bool {
	_, ok := d.Row(id)
	return ok
}

func (d *Map) Rows() int { return len(d.owners) }
func (d *Map) Len() int  { return len(d.owners) }

// Owners returns the handles, and Range the data, of the rows lo to hi-1.
func (d *Map) Owners(lo, hi int) []handle.ID { return d.owners[lo:hi:hi] }
func (d *Map) Range(lo, hi int) items.Slice  { return d.items.Sub(lo, hi, d.Type.Size) }

// At returns the address of the data in a row, valid until rows are added or removed.
func (d *Map) At(row int) unsafe.Pointer { return d.items.Pointer(row, d.Type.Size) }

// HasRoom reports whether n more rows fit a map of slots slots without growth.
func (d *Map) HasRoom(n, slots int) bool {
	return n == 0 || len(d.owners)+n <= d.items.Cap() && slots <= len(d.index)
}

const (
	smallest = 8
	doubling = 1 << 15 // capacity in rows up to which growth doubles; above, it adds half
)

// Reserve makes room for n more rows in a map of slots slots.
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

// reserveRows makes room for n rows in owners and items, which grow together.
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

// roomy returns the capacity to grow to: twice as much, or half more for large arrays.
func roomy(need, have int) int {
	grown := max(smallest, have*2)
	if have > doubling {
		grown = have + have/2
	}
	return max(need, grown)
}

// Append returns the address of a new zero row for the item. There is room.
func (d *Map) Append(id handle.ID) unsafe.Pointer {
	row := len(d.owners)
	d.owners = append(d.owners, id)
	d.items = d.items.Resize(row + 1)
	d.index[id.Slot()] = uint32(row)
	return d.At(row)
}

// Set gives the item a copy of *v. There is room.
func (d *Map) Set(id handle.ID, v unsafe.Pointer) {
	if row, ok := d.Row(id); ok {
		d.Type.Set(d.At(row), v)
		return
	}
	d.Type.Set(d.Append(id), v)
}

// Place returns the address of the item's row, or of a new row if it is [slotset.NoRow].
// There is room.
func (d *Map) Place(id handle.ID, row slotset.Row) unsafe.Pointer {
	if row == slotset.NoRow {
		return d.Append(id)
	}
	return d.At(int(row))
}

// Remove removes the row of the item, if it has one. The last row takes its place.
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
	// An iteration that removed its current row may continue.
	d.removed = id
}

// move gives a row the owner of another row. The caller moves the items.
func (d *Map) move(row, from int) {
	owner := d.owners[from]
	d.owners[row] = owner
	d.index[owner.Slot()] = uint32(row)
}

// truncate removes the rows from n on. Their index entries stay and are never found.
func (d *Map) truncate(n int) {
	d.changes += slotset.Removed * uint64(len(d.owners)-n)
	d.removed = 0
	d.Type.Clear(d.items.Sub(n, len(d.owners), d.Type.Size)) // N3
	d.owners, d.items = d.owners[:n], d.items.Resize(n)
}

// DropMarked drops marked rows: the remaining rows at or above their number fill the gaps
// below it, both in ascending order. It takes O(marked) time.
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
			// Marked rows at or above kept have no gap to fill.
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

// Clear removes all rows and keeps the memory.
func (d *Map) Clear() { d.truncate(0) }

// Trim releases scratch memory.
func (d *Map) Trim() { d.moves, d.sorting = nil, sorting{} }

// Bytes returns the bytes of all arrays except scratch memory.
func (d *Map) Bytes() int64 {
	const ownerBytes, indexBytes = 8, 4
	return int64(d.items.Cap())*int64(d.Type.Size) + int64(cap(d.owners))*ownerBytes + int64(len(d.index))*indexBytes
}

// Verify returns an error that cites the first broken invariant. It takes O(capacity) time.
func (d *Map) Verify(host Host) error {
	if d.items.Len() != len(d.owners) {
		return fmt.Errorf("N3: %d items of %d owners", d.items.Len(), len(d.owners))
	}
	for row, id := range d.owners {
		if _, ok := host.RowOf(id); !ok {
			return fmt.Errorf("N1: row %d belongs to %v, which is not an item", row, id)
		}
		if at, ok := d.Row(id); !ok || at != row {
			return fmt.Errorf("N2: row %d belongs to %v, but its slot has row %d", row, id, at)
		}
	}
	all := d.items.Resize(d.items.Cap())
	for row := len(d.owners); row < all.Len(); row++ {
		if !d.Type.IsZero(all.Pointer(row, d.Type.Size)) {
			return fmt.Errorf("N3: the item at row %d, beyond the length %d, is not zero", row, len(d.owners))
		}
	}
	return nil
}
