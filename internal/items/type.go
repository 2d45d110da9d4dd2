package items

import (
	"reflect"
	"runtime"
	"sync"
	"unsafe"

	"handloom/internal/digest"
	"handloom/internal/slotset"
)

// Type describes an item type for code without T.
type Type struct {
	Size     uintptr // in bytes
	Pointers bool    // items contain pointers for the collector
	Reflect  reflect.Type
	Digest   *digest.Codec
	Steps
}

// Steps are the typed steps. Slices and pointers refer to the T of the Type.
type Steps interface {
	// Make returns n zero items, with capacity n.
	Make(n int) Slice
	// Grown returns n items, with capacity n: a copy of old, which is no longer, followed
	// by zeros.
	Grown(old Slice, n int) Slice
	Copy(to, from Slice)
	Clear(s Slice)
	Set(to, from unsafe.Pointer)
	// Move performs the moves in order.
	Move(s Slice, moves []slotset.Move)
	// Gather returns to with element k set to the item at row order[k] of from. It
	// reallocates to if it is too short.
	Gather(to, from Slice, order []slotset.Row) Slice
	Exchange(s Slice, a, b slotset.Row)
}

var types sync.Map

// For returns the Type of T, the same on each call. The first call takes some microseconds,
// later calls a lookup.
func For[T any]() *Type {
	t := reflect.TypeFor[T]()
	if known, ok := types.Load(t); ok {
		return known.(*Type)
	}
	return remember(t, new(typed[T]))
}

func remember(t reflect.Type, steps Steps) *Type {
	known, _ := types.LoadOrStore(t, &Type{
		Size: t.Size(), Pointers: HasPointers(t), Reflect: t, Digest: digest.Of(t), Steps: steps,
	})
	return known.(*Type)
}

// IsZero reports whether the item at p is zero. It checks the bytes first, which is fast
// and nearly always sufficient.
func (t *Type) IsZero(p unsafe.Pointer) bool {
	for _, b := range unsafe.Slice((*byte)(p), t.Size) {
		if b != 0 {
			return reflect.NewAt(t.Reflect, p).Elem().IsZero()
		}
	}
	return true
}

func (t *Type) Zero(p unsafe.Pointer) { t.Clear(Slice{data: p, len: 1, cap: 1}) }

func (t *Type) Any(p unsafe.Pointer) any { return reflect.NewAt(t.Reflect, p).Interface() }

// ReadAhead reads a byte of each item at rows, except at [slotset.NoRow]; see
// [slotset.Lookahead].
func (t *Type) ReadAhead(s Slice, rows []slotset.Row) {
	if t.Size == 0 {
		return
	}
	var sum byte
	for _, row := range rows {
		if row != slotset.NoRow {
			sum += *(*byte)(s.Pointer(int(row), t.Size))
		}
	}
	runtime.KeepAlive(sum) // else the compiler would drop the reads
}

// DigestItems adds the items of s to h. They must not change while a [digest.Tee] of h uses
// them; see [digest.Plan.Lasting].
func (t *Type) DigestItems(h *digest.Hash, s Slice) { t.Digest.Lasting(h, s.data, s.len) }

// DecodeItems reads into s, which is zero; see [digest.Codec.DecodeItems].
func (t *Type) DecodeItems(d *digest.Decoder, s Slice) { t.Digest.DecodeItems(d, s.data, s.len) }

func (t *Type) AppendItems(b []byte, s Slice) []byte { return t.Digest.Append(b, s.data, s.len) }

func (t *Type) AppendItem(b []byte, p unsafe.Pointer) []byte { return t.Digest.Append(b, p, 1) }

// ReadItems reads into s, which is zero.
func (t *Type) ReadItems(r *digest.Reader, s Slice) { r.Items(t.Digest, s.data, s.len) }

func (t *Type) ReadItem(r *digest.Reader, p unsafe.Pointer) { r.Items(t.Digest, p, 1) }

// typed are the Steps of T. Steps for many items are not inlined: a method in an interface
// is compiled twice per type, with and without its dictionary.
type typed[T any] struct{}

func (*typed[T]) Make(n int) Slice { return From(make([]T, n)) }

//go:noinline
func (*typed[T]) Grown(old Slice, n int) Slice {
	// make followed by copy avoids zeroing the copied part (op=create).
	from := *As[T](&old)
	s := make([]T, n)
	copy(s, from)
	return From(s)
}

//go:noinline
func (*typed[T]) Copy(to, from Slice) { copy(*As[T](&to), *As[T](&from)) }

func (*typed[T]) Clear(s Slice) { clear(*As[T](&s)) }

func (*typed[T]) Set(to, from unsafe.Pointer) { *(*T)(to) = *(*T)(from) }

//go:noinline
func (*typed[T]) Move(s Slice, moves []slotset.Move) {
	items := *As[T](&s)
	for _, move := range moves {
		items[move.To] = items[move.From]
	}
}

//go:noinline
func (*typed[T]) Gather(to, from Slice, order []slotset.Row) Slice {
	src := *As[T](&from)
	dst := *As[T](&to)
	if cap(dst) < len(order) {
		dst = make([]T, len(order))
	}
	dst = dst[:len(order)]
	for k, row := range order {
		dst[k] = src[row]
	}
	return From(dst)
}

// Exchange is for two items: a call would take a tenth of Defragment's time.
func (*typed[T]) Exchange(s Slice, a, b slotset.Row) {
	items := *As[T](&s)
	items[a], items[b] = items[b], items[a]
}
