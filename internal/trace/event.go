package trace

import (
	"math"
	"strconv"
)

// event parses a line and checks it against the live keys (L1, L2, L3).
func (r *reader) event(fields []string) (Event, error) {
	kind := Kind(fields[0][0])
	e := Event{Kind: kind, Line: r.line}
	switch {
	case len(fields[0]) > 1 || kind != Create && kind != Update && kind != Erase:
		return e, r.fail("unknown event %.40q; want T, C, U or E", fields[0])
	case len(fields) != 3:
		return e, r.fail("%d fields; want %c <table> <key>", len(fields), kind)
	}
	table, err := r.number("table", fields[1], MaxTable)
	if err != nil {
		return e, err
	}
	e.Table = uint16(table)
	if e.Key, err = r.number("key", fields[2], math.MaxUint64); err != nil {
		return e, err
	}
	at := item{e.Table, e.Key}
	switch line, lives := r.live[at]; {
	case kind == Create && lives:
		return e, r.fail("key %d of table %d is created twice; it is alive since line %d", e.Key, e.Table, line)
	case kind == Create:
		r.live[at] = e.Line
	case !lives:
		return e, r.fail("%c of key %d in table %d, which is not alive", kind, e.Key, e.Table)
	case kind == Erase:
		delete(r.live, at)
	}
	return e, nil
}

// number parses a table or a key up to last. A number has one spelling.
func (r *reader) number(what, text string, last uint64) (uint64, error) {
	v, err := strconv.ParseUint(text, 10, 64)
	switch {
	case err == nil && v <= last && strconv.FormatUint(v, 10) == text:
		return v, nil
	case err == nil && v <= last:
		return 0, r.fail("%s %.40q has a leading zero; a number has one spelling", what, text)
	}
	return 0, r.fail("%s %.40q is not a number in 0..%d", what, text, last)
}
