package trace

import "bytes"

// parseLine reads one line without its line end. It reports false for a line
// that breaks the format; explain then says why. A blank or comment line gives
// the zero Event. It is kept whole for speed, like its callee number.
func parseLine(line []byte) (Event, bool) {
	if i := bytes.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	i := blanks(line, 0)
	if i == len(line) {
		return Event{}, true
	}
	kind := Kind(line[i])
	i++
	switch kind {
	case Tick:
		return Event{Kind: Tick}, blanks(line, i) == len(line)
	case Create, Update, Erase:
	default:
		return Event{}, false
	}
	table, i, ok := number(line, i)
	if !ok || table > MaxTable {
		return Event{}, false
	}
	key, i, ok := number(line, i)
	if !ok || blanks(line, i) != len(line) {
		return Event{}, false
	}
	return Event{Kind: kind, Table: uint16(table), Key: key}, true
}

// number reads blanks and then a decimal number from line[i:], and returns the
// index behind it. It fails on a number without blanks before it or without
// digits, with a leading zero, or above 64 bits.
func number(line []byte, i int) (v uint64, next int, ok bool) {
	start := blanks(line, i)
	for next = start; next < len(line); next++ {
		digit := line[next] - '0'
		if digit > 9 {
			break
		}
		if v >= 1<<64/10 && (v > 1<<64/10 || digit > (1<<64-1)%10) {
			return 0, next, false
		}
		v = v*10 + uint64(digit)
	}
	digits := next - start
	return v, next, start > i && digits > 0 && (digits == 1 || line[start] != '0')
}

// blanks returns the index of the first byte at or after i that is neither a
// space nor a tab.
func blanks(line []byte, i int) int {
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	return i
}
