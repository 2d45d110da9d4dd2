package trace

import (
	"fmt"
	"strconv"
	"strings"
)

// explain says why parseLine refused line. It runs once per file, on the fault
// that ends the reading, so it may take its time.
func explain(line []byte) string {
	text, _, _ := strings.Cut(string(line), "#")
	fields := strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == '\t' })
	if len(fields) == 0 {
		return "unreadable line " + quote(text)
	}
	letter, fields := fields[0], fields[1:]
	switch letter {
	case "T":
		return fmt.Sprintf("T stands alone, but %s follows it", quote(strings.Join(fields, " ")))
	case "C", "U", "E":
	default:
		return fmt.Sprintf("unknown event %s; want T, C, U or E", quote(letter))
	}
	switch len(fields) {
	case 0:
		return letter + " without table and key; want " + letter + " <table> <key>"
	case 1:
		return letter + " without key; want " + letter + " <table> <key>"
	}
	for i, what := range []string{"table", "key"} {
		if reason := explainNumber(what, fields[i]); reason != "" {
			return reason
		}
	}
	return fmt.Sprintf("extra field %s after the key", quote(strings.Join(fields[2:], " ")))
}

// explainNumber says what is wrong with text as a table or key, or "".
func explainNumber(what, text string) string {
	if strings.Trim(text, "0123456789") != "" {
		return fmt.Sprintf("%s %s is not an unsigned decimal number", what, quote(text))
	}
	if len(text) > 1 && text[0] == '0' {
		return fmt.Sprintf("%s %s has a leading zero; a number has one spelling", what, quote(text))
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if what == "table" && (err != nil || v > MaxTable) {
		return fmt.Sprintf("table %s is out of range 0..%d", quote(text), MaxTable)
	}
	if err != nil {
		return fmt.Sprintf("key %s is above %d, the highest of 64 bits", quote(text), uint64(1<<64-1))
	}
	return ""
}

// quote returns text in quotes, cut when it is too long for a message.
func quote(text string) string {
	const most = 40
	if len(text) > most {
		return strconv.Quote(text[:most]) + "..."
	}
	return strconv.Quote(text)
}
