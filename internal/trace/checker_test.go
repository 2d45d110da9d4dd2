package trace_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"handloom/internal/trace"
)

func checkText(text string) (*trace.Checker, error) {
	c := trace.NewChecker("x.trace")
	r, err := trace.NewReader(strings.NewReader("handloom-trace 1\n"+text), "x.trace")
	if err != nil {
		return c, err
	}
	for events, err := range r.Ticks() {
		if err == nil {
			err = c.CheckBatch(events)
		}
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

func TestChecker_NamesFileLineAndRule(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"created twice", "C 1 5\nT\nC 1 5\n", "x.trace:4: key 5 of table 1 is created twice; it is alive since line 2"},
		{"created twice after a return", "C 1 5\nE 1 5\nC 1 5\nC 1 5\n", "x.trace:5: key 5 of table 1 is created twice; it is alive since line 4"},
		{"update of an unknown key", "C 1 5\nU 2 5\n", "x.trace:3: update of key 5 in table 2, which is not alive"},
		{"erase of an unknown key", "E 1 5\n", "x.trace:2: erase of key 5 in table 1, which is not alive"},
		{"erased twice", "C 1 5\nE 1 5\nE 1 5\n", "x.trace:4: erase of key 5 in table 1, which is not alive"},
	}
	for _, tt := range tests {
		_, err := checkText(tt.text)
		if fault, ok := errors.AsType[*trace.Error](err); !ok || fault.Error() != tt.want {
			t.Errorf("%s: error is\n%v\nwant\n%s", tt.name, err, tt.want)
		}
	}
}

func TestChecker_StopsAtTheFirstError(t *testing.T) {
	for _, e := range []trace.Event{{Kind: trace.Erase, Line: 2}, {Kind: 'X'}, {}, {Kind: trace.Create, Table: 1024}} {
		c := trace.NewChecker("x")
		first, second := c.Check(e), c.Check(trace.Event{Kind: trace.Create, Line: 3})
		if first == nil || first != second {
			t.Errorf("%v: errors are %v and then %v; want one error twice", e, first, second)
		}
	}
}

// The model keeps the last event of each key. Keys are few, so that they
// collide.
func TestChecker_AgreesWithItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		last := map[[2]uint64]trace.Kind{}
		c := trace.NewChecker("x")
		for _, e := range rapid.SliceOf(anyEvent(1, 1)).Draw(t, "events") {
			name := [2]uint64{uint64(e.Table), e.Key}
			kind, seen := last[name]
			alive := seen && kind != trace.Erase
			valid := e.Kind == trace.Tick || alive == (e.Kind != trace.Create)
			if err := c.Check(e); (err == nil) != valid {
				t.Fatalf("%v is %v: error %v; want valid = %v", name, e.Kind, err, valid)
			}
			if !valid {
				return
			}
			if e.Kind != trace.Tick {
				last[name] = e.Kind
			}
		}
	})
}

var kinds = []trace.Kind{trace.Tick, trace.Create, trace.Update, trace.Erase}
