package history

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"handloom/internal/entrance"
	"handloom/store"
)

// A Script is a state and ticks with calls, after which a check fails. [Play] plays it.
type Script struct {
	State []byte // before the first tick, for a file; nil: the state of Options.Init

	// Text has a line for each tick, for each call with its first command, and for each further
	// command:
	//
	//	tick 88214 seed 0x9e3779b97f4a7c15 time 2026-11-22T21:03:07.25Z
	//		call create order {Player: 13, Number: 1}
	//		and create item {Of: $1}
	//		call put ship 3:17.2 {Hull: 1}
	//		call erase ship 3:4.1
	//		call erase all order
	//		call set ship.shield 3:17.2 {Left: 5}
	//		call unset ship.shield 3:17.2
	//
	// Values are as in Go, without types and fields that are zero. $1 is the item that the first
	// create of the call makes, and $0 an item that never lived.
	Text string

	check string
	tick  uint64
}

// test returns a Go test that plays the script. game is the expression of the Game, and file the
// path of a file with State, or "" if State is nil.
func (s *Script) test(game, file string) string {
	text := "`\n" + s.Text + "`"
	if strings.Contains(s.Text, "`") {
		text = strconv.Quote(s.Text)
	}
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s.check)
	if name != "" {
		name = strings.ToUpper(name[:1]) + name[1:]
	}
	return fmt.Sprintf("func Test%s_HoldsAfterTick%d(t *testing.T) {\n\thistory.Play(t, %s, %q, %s, %q)\n}\n",
		name, s.tick, game, file, text, s.check)
}

// appendTick appends the text of a tick, which parseScript reads. The text has all digits of the time:
// a tick may depend on each.
func appendTick(b []byte, tables []entrance.Table, t stageTick) []byte {
	b = fmt.Appendf(b, "tick %d seed %#x time %s\n", t.Number, t.Seed, t.Time.UTC().Format(time.RFC3339Nano))
	for _, call := range t.calls {
		first := "call"
		for i := range call {
			b = fmt.Appendf(b, "\t%s ", first)
			b = append(appendCommand(b, tables, call, &call[i]), '\n')
			first = "and"
		}
	}
	return b
}

// appendCommand appends the text of a command of a call.
func appendCommand(b []byte, tables []entrance.Table, call []entrance.Command, c *entrance.Command) []byte {
	name := func(id store.ID) string { return handleText(tables, call, id) }
	b = append(b, c.Kind...)
	if c.Table >= 0 {
		t := &tables[c.Table]
		b = append(append(b, ' '), quoteName(t.Name)...)
		if c.Part >= 0 {
			b = append(append(b, '.'), quoteName(t.Parts[c.Part].Name)...)
		}
	}
	if c.Kind != "create" && c.Kind != "erase all" {
		b = append(append(b, ' '), name(store.ID(c.ID))...)
	}
	if c.Value != nil {
		b = appendLiteral(append(b, ' '), reflect.ValueOf(c.Value).Elem(), name)
	}
	return b
}

// quoteName returns a name as a script has it. "erase all" is a command, so a table of that name is in
// quotes.
func quoteName(name string) string {
	if wordPattern.FindString(name) == name && name != "all" {
		return name
	}
	return strconv.Quote(name)
}

// handleText returns the text of a handle in a call. A text counts the creates of all tables, and a
// handle the creates of its table.
func handleText(tables []entrance.Table, call []entrance.Command, id store.ID) string {
	if !id.IsProvisional() {
		return id.String()
	}
	numbers := make(map[int]uint64) // of creates, by table
	creates := 0
	for i := range call {
		c := &call[i]
		if c.Kind != "create" {
			continue
		}
		creates++
		numbers[c.Table]++
		if id == provisional(&tables[c.Table], numbers[c.Table]) {
			return fmt.Sprintf("$%d", creates)
		}
	}
	return "$0"
}

// provisional returns the handle of a create by its number in its call and table, from 1.
func provisional(t *entrance.Table, number uint64) store.ID {
	return store.ID(freeBit | uint64(t.TypeID)<<48 | number)
}
