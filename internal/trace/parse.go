package trace

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// parseLine parses a line without its line end. It returns the reason if the
// line is invalid, and the zero Event for a blank or comment line.
func parseLine(line []byte) (e Event, reason string) {
	if i := bytes.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	letter, rest := cutWord(line)
	if len(letter) == 0 {
		return e, ""
	}
	switch e.Kind = Kind(letter[0]); {
	case len(letter) == 1 && e.Kind == Tick:
		if more, _ := cutWord(rest); len(more) > 0 {
			return e, fmt.Sprintf("T stands alone, but %s follows it", quote(more))
		}
		return e, ""
	case len(letter) > 1 || e.Kind != Create && e.Kind != Update && e.Kind != Erase:
		return e, fmt.Sprintf("unknown event %s; want T, C, U or E", quote(letter))
	}
	table, rest := cutWord(rest)
	key, rest := cutWord(rest)
	switch {
	case len(table) == 0:
		return e, fmt.Sprintf("%s without table and key; want %[1]s <table> <key>", letter)
	case len(key) == 0:
		return e, fmt.Sprintf("%s without key; want %[1]s <table> <key>", letter)
	}
	number, reason := parseNumber("table", table, MaxTable)
	if e.Table = uint16(number); reason == "" {
		e.Key, reason = parseNumber("key", key, math.MaxUint64)
	}
	if more, _ := cutWord(rest); reason == "" && len(more) > 0 {
		reason = fmt.Sprintf("extra field %s after the key", quote(more))
	}
	return e, reason
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func cutWord(line []byte) (word, rest []byte) {
	from := 0
	for from < len(line) && isBlank(line[from]) {
		from++
	}
	to := from
	for to < len(line) && !isBlank(line[to]) {
		to++
	}
	return line[from:to], line[to:]
}

// parseNumber parses a table or a key up to last.
func parseNumber(what string, text []byte, last uint64) (v uint64, reason string) {
	v, err := strconv.ParseUint(string(text), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		return 0, fmt.Sprintf("%s %s is not an unsigned decimal number", what, quote(text))
	case len(text) > 1 && text[0] == '0':
		return 0, fmt.Sprintf("%s %s has a leading zero; a number has one spelling", what, quote(text))
	case err != nil || v > last:
		return 0, fmt.Sprintf("%s %s is out of range 0..%d", what, quote(text), last)
	}
	return v, ""
}

// quote quotes text, shortened for a message.
func quote(text []byte) string {
	const limit = 40
	if len(text) > limit {
		return strconv.Quote(string(text[:limit])) + "..."
	}
	return strconv.Quote(string(text))
}
