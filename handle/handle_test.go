package handle_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"handloom/handle"

	"pgregory.net/rapid"
)

// Each run checks the same cases, or drawn ones with -rapid.seed=0.
var _ = flag.Set("rapid.seed", "1")

func ExampleID() {
	id := handle.New(7, 3, 42)
	fmt.Println(id, id.TypeID(), id.Slot(), id.Generation(), id.IsZero())

	parsed, err := handle.Parse("7:42.3")
	fmt.Println(parsed == id, err)
	// Output:
	// 7:42.3 7 42 3 false
	// true <nil>
}

func ExampleOf() {
	type Ship struct{ Hull int }
	names := map[handle.Of[Ship]]string{
		{ID: handle.New(1, 1, 0)}: "Argo",
	}
	text, _ := json.Marshal(names)
	fmt.Println(string(text))
	// Output: {"1:0.1":"Argo"}
}

type item struct{ _, _ int }

// A typed handle has the size of a number.
var _ [8]byte = [unsafe.Sizeof(handle.Of[item]{})]byte{}

func anyID() *rapid.Generator[handle.ID] {
	return rapid.Map(rapid.Uint64(), func(v uint64) handle.ID { return handle.ID(v) })
}

func TestNew_RoundTripsParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := anyID().Draw(t, "id")
		made := handle.New(id.TypeID(), id.Generation(), id.Slot())
		if id.IsProvisional() {
			made |= handle.FreeBit
		}
		if made != id {
			t.Fatalf("parts of %#x make %#x", uint64(id), uint64(made))
		}
	})
}

func TestID_Order(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyID().Draw(t, "a"), anyID().Draw(t, "b")
		key := func(id handle.ID) []uint64 {
			free := uint64(0)
			if id.IsProvisional() {
				free = 1
			}
			return []uint64{free, uint64(id.TypeID()), uint64(id.Generation()), uint64(id.Slot())}
		}
		if got, want := cmp.Compare(a, b), slices.Compare(key(a), key(b)); got != want {
			t.Fatalf("Compare(%v, %v) = %d, want %d", a, b, got, want)
		}
	})
}

func TestID_TextRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := anyID().Draw(t, "id")
		if parsed, err := handle.Parse(id.String()); parsed != id || err != nil {
			t.Fatalf("Parse(%q) = %v, %v", id.String(), parsed, err)
		}
		text, _ := id.MarshalText()
		var back handle.Of[item]
		if err := back.UnmarshalText(text); err != nil || back.ID != id {
			t.Fatalf("UnmarshalText(%q) = %v, %v", text, back, err)
		}
	})
}

func TestParse_RefusesOtherTexts(t *testing.T) {
	for _, s := range []string{
		"", "~", ":", ".", ":.", "7", "7:42", "7:42.", "7:.3", ":42.3", "7.42:3", "07:42.3", "7:042.3", "7:42.03",
		"+7:42.3", "7:-1.3", "7:42.3 ", " 7:42.3", "7:42.3.1", "7:4:2.3", "~~7:42.3", "7:~42.3", "32768:0.1",
		"7:4294967296.1", "7:42.65536", "0x7:42.3", "7:4_2.3", "７:42.3", "7:42.3\n", "99999999999999999999:0.1",
	} {
		id, err := handle.Parse(s)
		if !errors.Is(err, handle.ErrSyntax) || id != 0 {
			t.Errorf("Parse(%q) = %v, %v; want ErrSyntax", s, id, err)
		}
		if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("%q", s)) {
			t.Errorf("error for %q does not name it: %v", s, err)
		}
	}
	kept := handle.New(1, 2, 3)
	if err := kept.UnmarshalText([]byte("no")); err == nil || kept != handle.New(1, 2, 3) {
		t.Errorf("a failed UnmarshalText left %v, %v", kept, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"7:42.3", "~32767:4294967295.65535", "0:0.0", "7:42"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := handle.Parse(s); err == nil && id.String() != s {
			t.Fatalf("Parse(%q) = %v, which prints differently", s, id)
		}
	})
}

func TestID_NullAndProvisional(t *testing.T) {
	var null handle.Of[item]
	if !null.ID.IsZero() || null.ID.IsProvisional() || null.String() != "0:0.0" {
		t.Errorf("null handle: zero %t, provisional %t, text %q", null.ID.IsZero(), null.ID.IsProvisional(), null)
	}
	p := handle.New(7, 3, 42) | handle.FreeBit
	if !p.IsProvisional() || p.IsZero() || p.String() != "~7:42.3" || p.TypeID() != 7 {
		t.Errorf("provisional handle: %v", p)
	}
	if handle.New(1<<15, 1, 0).IsProvisional() {
		t.Error("a typeId that is too large made a provisional handle")
	}
}
