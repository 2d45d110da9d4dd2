package handlemap

import (
	"fmt"
	"math"
	"slices"

	"handloom/internal/check"
	"handloom/internal/sparse"
)

const (
	smallest = 8       // rows that the first growth makes room for
	doubling = 1 << 15 // rows up to which capacity doubles; above, it grows by half
)

// CanInsert reports whether n more items fit the map once erased of its items
// are gone, without changing anything: nil, or an error that wraps [ErrFull].
// depleting of the erased ones are at their last generation, so that their
// slots do not come back.
func (m *Map[T]) CanInsert(n, erased, depleting int) error {
	return m.set.CanInsert(n, erased, depleting, m.maxItems)
}

// makeRoom checks the limits for n more items and grows the arrays that need
// it, each once.
func (m *Map[T]) makeRoom(n int) error {
	if err := m.CanInsert(n, 0, 0); err != nil {
		return err
	}
	m.grow(n)
	return nil
}

// HasRoom reports whether n more items need no array to grow.
func (m *Map[T]) HasRoom(n int) bool {
	return len(m.items)+n <= cap(m.items) && m.set.Slots()+m.set.Fresh(n) <= cap(m.set.Words)
}

// ReserveMore makes room for n more items, as inserting them would; beyond what
// the map may hold it makes none. It changes capacity only, never slots.
func (m *Map[T]) ReserveMore(n int) {
	m.guard("ReserveMore")
	if n < 0 {
		panic(fmt.Sprintf("handlemap: ReserveMore of %d items", n))
	}
	m.grow(n)
}

// needs returns how many rows and slot words the map has with n more items. Some
// items may be erased before those come, and their slots be depleted or held
// back; so n counts in full for the words, even where MaxItems leaves no row.
func (m *Map[T]) needs(n int) (rows, words int) {
	most := int(min(m.set.Limit(), math.MaxInt))
	if m.maxItems > 0 {
		most = min(most, m.maxItems)
	}
	n = min(n, most)
	return min(len(m.items)+n, max(most, len(m.items))), m.set.Slots() + m.set.Fresh(n)
}

// grow makes room for n more items, with some to spare.
func (m *Map[T]) grow(n int) {
	rows, words := m.needs(n)
	if rows > cap(m.items) {
		m.growRows(m.roomy(rows, cap(m.items)))
	}
	if words > cap(m.set.Words) {
		m.growWords(max(m.roomy(words, cap(m.set.Words)), cap(m.items)))
	}
}

// roomy returns the capacity to grow to from have when need are needed. All
// three arrays follow one policy, so that they grow together.
func (m *Map[T]) roomy(need, have int) int {
	grown := max(smallest, have*2)
	if have > doubling {
		grown = have + have/2
	}
	if need <= m.maxItems { // slots may be more than MaxItems: vacant and depleted ones
		grown = min(grown, m.maxItems)
	}
	return max(need, grown)
}

// growRows moves dense and meta set to arrays of n rows. Nothing is moved when
// they are that large.
func (m *Map[T]) growRows(n int) {
	if n <= cap(m.items) {
		return
	}
	// Made at full length and copied to at once, what is copied to is not zeroed
	// before (op=create).
	items := make([]T, n)
	copy(items, m.items)
	meta := make([]sparse.Slot, n)
	copy(meta, m.meta)
	check.Poison(m.items)
	m.items, m.meta = items[:len(m.items)], meta[:len(m.meta)]
}

func (m *Map[T]) growWords(n int) {
	m.set.Grow(int(min(uint64(n), m.set.Limit())))
}

// Reserve makes room for n items in all, so that inserts up to there grow no
// array. It changes capacity only, never slots; more than the map may hold is
// taken as what it may hold. A negative n panics. It takes O(Len()) time and
// invalidates pointers to items when it grows.
func (m *Map[T]) Reserve(n int) {
	m.guard("Reserve")
	if n < 0 {
		panic(fmt.Sprintf("handlemap: Reserve of %d items", n))
	}
	if m.maxItems > 0 {
		n = min(n, m.maxItems)
	}
	if more := n - len(m.items); more > 0 {
		more = int(min(uint64(more), m.set.Limit()-uint64(len(m.items))))
		m.growRows(len(m.items) + more)
		m.growWords(m.set.Slots() + m.set.Fresh(more))
	}
}

// Shrink gives back the capacity that the items and slots do not use. It takes
// O(slots) time and invalidates pointers to items.
func (m *Map[T]) Shrink() {
	m.guard("Shrink")
	m.items = slices.Clip(append([]T(nil), m.items...))
	m.meta = slices.Clip(append([]sparse.Slot(nil), m.meta...))
	m.set.Shrink()
	m.marks, m.one, m.reordering = nil, nil, reordering[T]{}
	m.known = m.known.shrink()
}
