package maptest

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"handloom/internal/check"
)

// Items of the kinds that are handled differently somewhere: without size,
// plain, with pointers, large.
type (
	Empty struct{}
	Rich  struct {
		Name string
		Next *uint64
		List []uint64
	}
	Page [512]uint64 // 4 KiB
)

var (
	empties = kind[Empty]{
		func(uint64) Empty { return Empty{} },
		func(*Empty) uint64 { return 0 },
	}
	numbers = kind[uint64]{
		func(v uint64) uint64 { return v },
		func(v *uint64) uint64 { return *v * 5 % 11 },
	}
	riches = kind[Rich]{
		func(v uint64) Rich { return Rich{strconv.FormatUint(v, 10), &v, []uint64{v, v}} },
		func(v *Rich) uint64 { return *v.Next * 5 % 11 },
	}
	pages = kind[Page]{
		func(v uint64) Page { return Page{0: v, 511: v} },
		func(v *Page) uint64 { return v[511] * 5 % 11 },
	}
)

// fromRapid lets rapid choose, which prints and shrinks what it chose.
type fromRapid struct{ *rapid.T }

func (r fromRapid) below(n int, what string) int {
	return rapid.IntRange(0, n-1).Draw(r.T, what)
}

// fromBytes lets bytes choose; when they are used up, always the first.
type fromBytes struct{ data []byte }

func (f *fromBytes) below(n int, _ string) int {
	if len(f.data) == 0 {
		return 0
	}
	v := int(f.data[0])
	if f.data = f.data[1:]; n > 256 && len(f.data) > 0 {
		v = v<<8 | int(f.data[0])
		f.data = f.data[1:]
	}
	return v % n
}

func (s suite) RandomHistories(t *testing.T) {
	t.Run("item=empty", func(t *testing.T) { EachWidth(t, randomHistories(s.Empties, empties)) })
	t.Run("item=number", func(t *testing.T) { EachWidth(t, randomHistories(s.Numbers, numbers)) })
	t.Run("item=Rich", func(t *testing.T) { EachWidth(t, randomHistories(s.Riches, riches)) })
	t.Run("item=Page", func(t *testing.T) { EachWidth(t, randomHistories(s.Pages, pages)) })
}

// Nearly every slot of these histories ends depleted.
func (s suite) ShortLivedHistories(t *testing.T) {
	for last := range uint16(3) {
		for _, slots := range []uint32{1, 5, 16} {
			SetWidths(t, last+1, slots)
			t.Run(fmt.Sprintf("generations=%d/slots=%d", last+1, slots), randomHistories(s.Numbers, numbers))
		}
	}
}

// Fewer histories where everything is slow; a flag of the command line comes later.
func init() {
	if check.Cheap {
		_ = flag.Set("rapid.checks", "30")
	}
}

// stretches is how many times the length that rapid gives it a history has. Where
// builds check themselves, those of the stable map are slow.
func stretches(packed bool) int {
	if check.Cheap && !packed {
		return 1
	}
	return 3
}

func randomHistories[T any](maker Maker[T], k kind[T]) func(*testing.T) {
	return rapid.MakeCheck(func(t *rapid.T) {
		h := newHistory(t, fromRapid{t}, maker, k)
		actions := map[string]func(*rapid.T){"": func(*rapid.T) { h.check() }}
		for name, operation := range h.operations() {
			actions[name] = func(*rapid.T) { operation() }
		}
		for range stretches(!h.exact.Stable) {
			t.Repeat(actions)
		}
	})
}

// Fuzz runs histories that the fuzzer chooses.
func Fuzz(f *testing.F, m Maps) {
	f.Add([]byte("\x00an empty start, full width"))
	f.Add([]byte("\x01\x01\x00\x00\x00" + "\x0b\x07\x0b\x07\x0b\x07\x05\x05\x05\x05\x05\x05"))
	f.Add([]byte("\x02\x02\x03\x01\x0f\x01\x03" + "insert, erase and clone in some order, with values of three kinds"))
	f.Add([]byte("\x03\x03\x06\x00\x01\x00" + "\x0a\x04\x00\x0a\x05\x01\x0d\x03\x02\x08\x00\x06\x00\x00"))
	f.Add([]byte("\x05narrow fields: 01234567890123456789012345678901234567890123456789012345678901234567890123456789"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &fromBytes{data}
		switch in.below(4, "width") {
		case 0:
			SetWidths(t, 2, 5)
		case 1, 2:
			SetWidths(t, 7, 16)
		}
		switch in.below(3, "item") {
		case 0:
			replay(t, in, m.Empties, empties)
		case 1:
			replay(t, in, m.Numbers, numbers)
		case 2:
			replay(t, in, m.Riches, riches)
		}
	})
}

func replay[T any](t *testing.T, in *fromBytes, maker Maker[T], k kind[T]) {
	h := newHistory(t, in, maker, k)
	operations := h.operations()
	names := slices.Sorted(maps.Keys(operations))
	for range 200 {
		if len(in.data) == 0 {
			return
		}
		operations[names[in.below(len(names), "operation")]]()
		h.check()
	}
}
