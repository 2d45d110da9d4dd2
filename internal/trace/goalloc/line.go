package goalloc

import (
	"bytes"
	"fmt"
	"strconv"
)

// op says what a line of the parsed text means to a trace.
type op uint8

const (
	opStack  op = iota // part of a call stack, or blank
	opOther            // an event that no trace shows
	opSync             // a generation begins; id is its number
	opSpan             // a run of pages; id is its first page
	opExists           // a heap object is listed at the beginning
	opAlloc
	opFree
	opGoCreate // a goroutine, here and below; id is its number
	opGoChange
	opGoEnd
)

// line is one line of the parsed text. An opStack has nothing but its op.
type line struct {
	op   op
	time uint64 // nanoseconds
	id   uint64
	typ  uint64 // of opExists and opAlloc
	span
}

// span is what an opSpan has besides its first page.
type span struct{ pages, class uint64 }

// parseLine reads one line without its line end, or says why it is not one of
// go tool trace.
func parseLine(text []byte) (line, error) {
	if isStack(text) {
		return line{}, nil
	}
	rest, ok := text, true
	for _, prefix := range []string{"M=", "P=", "G="} {
		var word []byte
		word, rest, _ = bytes.Cut(rest, space)
		ok = ok && bytes.HasPrefix(word, []byte(prefix))
	}
	kind, rest, _ := bytes.Cut(rest, space)
	when, rest, _ := bytes.Cut(rest, space)
	stamp, hasTime := bytes.CutPrefix(when, []byte("Time="))
	if !ok || !hasTime {
		return line{}, fmt.Errorf("%s is no event; want the text of: go tool trace -d=parsed", quote(text))
	}
	l := line{op: opOther}
	if l.time, ok = digits(stamp); !ok {
		return line{}, fmt.Errorf("time %s is not a decimal number", quote(stamp))
	}
	switch string(kind) {
	case "Experimental":
		return l.experimental(rest)
	case "StateTransition":
		return l.transition(rest)
	case "Sync":
		return l.sync(rest)
	}
	return l, nil
}

var space = []byte(" ")

func isStack(text []byte) bool {
	return len(text) == 0 || text[0] == '\t' || string(text) == "Stack=" || string(text) == "TransitionStack="
}

func (l line) experimental(rest []byte) (line, error) {
	name, args, _ := bytes.Cut(rest, space)
	switch string(name) {
	case "Name=Span", "Name=SpanAlloc":
		l.op = opSpan
	case "Name=HeapObject":
		l.op = opExists
	case "Name=HeapObjectAlloc":
		l.op = opAlloc
	case "Name=HeapObjectFree":
		l.op = opFree
	default:
		return l, nil
	}
	id, after, ok := value(args, "Args=[id=")
	switch {
	case !ok || l.op == opFree:
	case l.op == opSpan:
		if l.pages, after, ok = value(after, ", npages_value="); ok {
			l.class, after, ok = value(after, ", kindclass=")
		}
	default:
		l.typ, after, ok = value(after, ", type=")
	}
	if !ok || !bytes.HasSuffix(after, []byte("]")) {
		return line{}, fmt.Errorf("unreadable arguments %s of %s", quote(args), quote(name))
	}
	l.id = id
	return l, nil
}

// transition reads "GoID=7 Running->Waiting Reason=...". A processor's
// transition has a ProcID there, and is none of a trace's business.
func (l line) transition(rest []byte) (line, error) {
	word, after, _ := bytes.Cut(rest, space)
	text, isGoroutine := bytes.CutPrefix(word, []byte("GoID="))
	if !isGoroutine {
		return l, nil
	}
	id, ok := digits(text)
	states, reason, _ := bytes.Cut(after, space)
	from, to, arrow := bytes.Cut(states, []byte("->"))
	// Without its reason the line is cut off, and the state with it.
	if !ok || !arrow || len(reason) == 0 {
		return line{}, fmt.Errorf("unreadable goroutine transition %s", quote(rest))
	}
	l.id = id
	switch {
	case string(from) == "NotExist":
		l.op = opGoCreate
	case string(to) == "NotExist":
		l.op = opGoEnd
	default:
		l.op = opGoChange
	}
	return l, nil
}

func (l line) sync(rest []byte) (line, error) {
	word, _, _ := bytes.Cut(rest, space)
	text, ok := bytes.CutPrefix(word, []byte("N="))
	if ok {
		l.id, ok = digits(text)
	}
	if !ok {
		return line{}, fmt.Errorf("unreadable sync number %s", quote(word))
	}
	l.op = opSync
	return l, nil
}

// value reads prefix and then Value{Uint64(17)}, and returns what is behind.
func value(text []byte, prefix string) (v uint64, rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(text, []byte(prefix))
	if !ok {
		return 0, nil, false
	}
	rest, ok = bytes.CutPrefix(rest, []byte("Value{Uint64("))
	if !ok {
		return 0, nil, false
	}
	number, rest, found := bytes.Cut(rest, []byte(")}"))
	v, ok = digits(number)
	return v, rest, ok && found
}

// digits reads text as an unsigned decimal number of 64 bits.
func digits(text []byte) (uint64, bool) {
	var v uint64
	for _, c := range text {
		d := uint64(c - '0')
		if d > 9 || v > (1<<64-1-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	return v, len(text) > 0
}

// quote returns text in quotes, cut when it is too long for a message.
func quote(text []byte) string {
	const most = 60
	if len(text) > most {
		return strconv.Quote(string(text[:most])) + "..."
	}
	return strconv.Quote(string(text))
}
