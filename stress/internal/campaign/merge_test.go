package campaign

import (
	"errors"
	"testing"

	"handloom/proof/model"
)

func TestMerge_AddsEveryCount(t *testing.T) {
	var o Outcome
	for range 2 {
		of := Outcome{Programs: 1, Plays: 2, Operations: 3, Flushes: 4, Repeated: 5}
		of.Seen.See(model.Depletion)
		o.Merge(&of)
	}
	want := Outcome{Programs: 2, Plays: 4, Operations: 6, Flushes: 8, Repeated: 10}
	want.Seen.See(model.Depletion)
	want.Seen.See(model.Depletion)
	if o != want {
		t.Errorf("got %+v; want %+v", o, want)
	}
}

func TestMerge_KeepsTheFirstFailureAndError(t *testing.T) {
	first := Outcome{Failure: new(Failure), Err: errors.New("first")}
	second := Outcome{Failure: new(Failure), Err: errors.New("second")}
	var o Outcome
	for _, of := range []*Outcome{{}, &first, &second, {}} {
		o.Merge(of)
	}
	if o.Failure != first.Failure || o.Err != first.Err {
		t.Errorf("got %p, %v; want %p, %v", o.Failure, o.Err, first.Failure, first.Err)
	}
}
