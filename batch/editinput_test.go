package batch_test

import (
	"bytes"
	"testing"

	"handloom/batch"
)

// An edited input is the input of the same calls.
func TestEditInput_EqualsTheInputOfItsCalls(t *testing.T) {
	b, r := newTable[int64](1)
	a := b.Claim(errReleased)
	input := func(calls ...int64) []byte {
		for _, v := range calls {
			arrive(t, a, func(q queue) { r.Emplace(q, v) })
		}
		encoded, _ := a.Seal(nil, 1<<20)
		return encoded
	}
	for _, c := range []struct {
		logged, add, want []int64
		keep              func(call int) bool
	}{
		{[]int64{1, 2, 3}, nil, []int64{1, 2, 3}, nil},
		{[]int64{1, 2, 3}, []int64{4, 5}, []int64{1, 3, 4, 5}, func(call int) bool { return call != 1 }},
		{nil, []int64{4}, []int64{4}, nil},
		{[]int64{1, 2}, nil, nil, func(int) bool { return false }},
	} {
		got, n, err := b.EditInput(input(c.logged...), c.keep, input(c.add...))
		if want := input(c.want...); err != nil || n != len(c.want) || !bytes.Equal(got, want) {
			t.Errorf("%v with %v: %x of %d calls, %v; want %x", c.logged, c.add, got, n, err, want)
		}
	}
	if _, _, err := b.EditInput([]byte{9}, nil, nil); err == nil {
		t.Error("an input of another version is edited")
	}
	if n := b.Pending(); n != (batch.Load{}) {
		t.Errorf("the batch has %+v", n)
	}
}
