package items

import (
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"handloom/internal/digest"
	"handloom/internal/slotset"
)

// Type is what code that does not know an item type has to know of it.
type Type struct {
	Size     uintptr      // in bytes
	Pointers bool         // the collector has to look into items
	Reflect  reflect.Type // for what is rare: messages, dumps, checks
	Digest   *digest.Codec
	Steps
}

// Steps is what has to be typed. Slices and pointers are of the T of the Type.
type Steps interface {
	// Make returns a slice of n zero items, and no room for more.
	Make(n int) Slice
	// Grown returns a slice of n items, with no room for more: those of old, which
	// are no more than that, and zero ones.
	Grown(old Slice, n int) Slice
	// Copy copies items as copy does.
	Copy(to, from Slice)
	// Clear zeroes items.
	Clear(s Slice)
	// Set assigns one item.
	Set(to, from unsafe.Pointer)
	// Move makes the moves, one after another.
	Move(s Slice, moves []slotset.Move)
	// Gather returns to with the item of row order[k] of from as element k, in other
	// memory where to has too little.
	Gather(to, from Slice, order []slotset.Row) Slice
	// Exchange exchanges two items.
	Exchange(s Slice, a, b slotset.Row)
}

// types are those that were asked for: reflect.Type to the *Type.
var types sync.Map

// For returns the Type of T, which is the same each time. It takes some
// microseconds the first time, then a look-up.
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

// IsZero reports whether the item at p is zero. It looks at the bytes first, which
// is much faster and nearly always enough.
func (t *Type) IsZero(p unsafe.Pointer) bool {
	for _, b := range unsafe.Slice((*byte)(p), t.Size) {
		if b != 0 {
			return reflect.NewAt(t.Reflect, p).Elem().IsZero()
		}
	}
	return true
}

// Zero zeroes the item at p.
func (t *Type) Zero(p unsafe.Pointer) { t.Clear(Slice{data: p, len: 1, cap: 1}) }

// Any returns p as a *T.
func (t *Type) Any(p unsafe.Pointer) any { return reflect.NewAt(t.Reflect, p).Interface() }

// DigestItems adds the items of s to h, which stay as they are while a [digest.Tee] of h
// makes something of them; see [digest.Plan.Lasting].
func (t *Type) DigestItems(h *digest.Hash, s Slice) { t.Digest.Lasting(h, s.data, s.len) }

// DecodeItems reads the items of s, which are zero; see [digest.Codec.DecodeItems].
func (t *Type) DecodeItems(d *digest.Decoder, s Slice) { t.Digest.DecodeItems(d, s.data, s.len) }

// AppendItems appends the encodings of the items of s to b; see [digest.Codec.Append].
func (t *Type) AppendItems(b []byte, s Slice) []byte { return t.Digest.Append(b, s.data, s.len) }

// AppendItem appends the encoding of the item at p to b.
func (t *Type) AppendItem(b []byte, p unsafe.Pointer) []byte { return t.Digest.Append(b, p, 1) }

// ReadItems reads the items of s, which are zero.
func (t *Type) ReadItems(r *digest.Reader, s Slice) { r.Items(t.Digest, s.data, s.len) }

// ReadItem reads the item at p, which is zero.
func (t *Type) ReadItem(r *digest.Reader, p unsafe.Pointer) { r.Items(t.Digest, p, 1) }

// typed is Steps for T.
type typed[T any] struct{}

func (*typed[T]) Make(n int) Slice { return From(make([]T, n)) }

func (*typed[T]) Grown(old Slice, n int) Slice {
	// Made at full length and copied to at once, what is copied to is not zeroed
	// before (op=create).
	from := *As[T](&old)
	s := make([]T, n)
	copy(s, from)
	return From(s)
}

func (*typed[T]) Copy(to, from Slice) { copy(*As[T](&to), *As[T](&from)) }

func (*typed[T]) Clear(s Slice) { clear(*As[T](&s)) }

func (*typed[T]) Set(to, from unsafe.Pointer) { *(*T)(to) = *(*T)(from) }

func (*typed[T]) Move(s Slice, moves []slotset.Move) {
	items := *As[T](&s)
	for _, move := range moves {
		items[move.To] = items[move.From]
	}
}

func (*typed[T]) Gather(to, from Slice, order []slotset.Row) Slice {
	src := *As[T](&from)
	dst := slices.Grow((*As[T](&to))[:0], len(order))[:len(order)] // not zeroed before (op=sort)
	for k, row := range order {
		dst[k] = src[row]
	}
	return From(dst)
}

func (*typed[T]) Exchange(s Slice, a, b slotset.Row) {
	items := *As[T](&s)
	items[a], items[b] = items[b], items[a]
}
