package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Ref is a reference to one or more handles.
type Ref struct {
	Kind  RefKind
	N     int    // name or row
	Count int    // number of consecutive names; 0 is 1
	Bits  uint64 // bits of a raw handle
	Forge []Forge
}

// RefKind is the kind of a reference, an index in kinds.
type RefKind int

const (
	Named       RefKind = iota // %N
	Provisional                // ~N
	Row                        // .N
	Raw                        // #BITS
)

// kinds has the first character of a reference by its kind.
const kinds = "%~.#"

// Forge is one change that forges a handle.
type Forge struct {
	Kind ForgeKind
	N    int // bit, or index of a table
}

// ForgeKind is a kind of forging. The first ones are indexes in forges.
type ForgeKind int

const (
	NextGeneration ForgeKind = iota
	PreviousGeneration
	NextSlot
	FlipBit
	OtherTable
)

// forges are the texts of changes without a number.
var forges = []string{"+g", "-g", "+s"}

// Names returns the first name and the number of names of a reference.
func (r Ref) Names() (first, n int) {
	if r.Kind == Row || r.Kind == Raw {
		return 0, 0
	}
	return r.N, max(1, r.Count)
}

// text returns the reference as in a line.
func (r Ref) text(p *Script) string {
	var b strings.Builder
	if b.WriteByte(kinds[r.Kind]); r.Kind == Raw {
		fmt.Fprintf(&b, "%x", r.Bits)
	} else {
		fmt.Fprintf(&b, "%d", r.N)
	}
	if r.Count > 1 {
		fmt.Fprintf(&b, "*%d", r.Count)
	}
	for _, f := range r.Forge {
		switch f.Kind {
		case FlipBit:
			fmt.Fprintf(&b, "^%d", f.N)
		case OtherTable:
			b.WriteString("@" + p.Tables[f.N].Name)
		default:
			b.WriteString(forges[f.Kind])
		}
	}
	return b.String()
}

const (
	maxName  = 1 << 28
	maxCount = 1 << 17
)

// parseRef reads a reference and the forgings that follow it.
func parseRef(text string, tables map[string]int) (Ref, error) {
	// The first character is the kind, so it is left out of the search.
	at := strings.IndexAny(text[1:], "+-^@") + 1
	base, forge := text, ""
	if at > 0 {
		base, forge = text[:at], text[at:]
	}
	r, err := parseBase(base)
	for err == nil && forge != "" {
		var f Forge
		// The next forging, if any, begins there.
		end := strings.IndexAny(forge[1:], "+-^@") + 1
		if end == 0 {
			end = len(forge)
		}
		f, err = parseForge(forge[:end], tables)
		r.Forge = append(r.Forge, f)
		forge = forge[end:]
	}
	if err != nil {
		return r, fmt.Errorf("%q: %w", text, err)
	}
	return r, nil
}

// parseBase reads a reference without forgings.
func parseBase(text string) (Ref, error) {
	if text[0] == '#' {
		bits, err := strconv.ParseUint(text[1:], 16, 64)
		if err != nil {
			return Ref{}, fmt.Errorf("want # and up to 16 hexadecimal digits")
		}
		return Ref{Kind: Raw, Bits: bits}, nil
	}
	kind := RefKind(strings.IndexByte(kinds, text[0]))
	number, count, many := strings.Cut(text[1:], "*")
	r := Ref{Kind: kind}
	var err error
	if r.N, err = parseNumber(number, maxName); err != nil {
		return r, err
	}
	if many {
		if kind == Row {
			return r, fmt.Errorf("a row names one item")
		}
		if r.Count, err = parseNumber(count, maxCount); err != nil {
			return r, err
		}
	}
	return r, nil
}

// parseForge reads one forging.
func parseForge(text string, tables map[string]int) (Forge, error) {
	if at := slices.Index(forges, text); at >= 0 {
		return Forge{Kind: ForgeKind(at)}, nil
	}
	switch text[0] {
	case '^':
		bit, err := parseNumber(text[1:], 63)
		return Forge{FlipBit, bit}, err
	case '@':
		t, ok := tables[text[1:]]
		if !ok {
			return Forge{}, fmt.Errorf("no table is called %q", text[1:])
		}
		return Forge{OtherTable, t}, nil
	}
	return Forge{}, fmt.Errorf("no forging is called %q; want +g, -g, +s, ^BIT or @TABLE", text)
}

// parseNumber reads a number from 0 to limit. Signs are refused, because they begin a
// forging.
func parseNumber(text string, limit int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > limit || text[0] == '+' || text[0] == '-' {
		return 0, fmt.Errorf("%q is not a number from 0 to %d", text, limit)
	}
	return n, nil
}
