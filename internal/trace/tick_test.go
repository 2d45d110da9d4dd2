package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handloom/internal/trace"
)

// keysOf returns the keys of every batch of text, and the final error.
func keysOf(text string) ([][]uint64, error) {
	r, err := trace.NewReader(strings.NewReader(text), "x.trace")
	if err != nil {
		return nil, err
	}
	batches := [][]uint64{}
	for events, err := range r.Ticks() {
		if err != nil {
			return batches, err
		}
		keys := []uint64{}
		for _, e := range events {
			keys = append(keys, e.Key)
		}
		batches = append(batches, keys)
	}
	return batches, nil
}

func TestTicks_CutBatchesAtT(t *testing.T) {
	tests := []struct {
		name, text string
		want       [][]uint64
		err        string
	}{
		{"nothing", "", [][]uint64{}, "<nil>"},
		{"one empty tick", "T\n", [][]uint64{{}}, "<nil>"},
		{"empty ticks between", "C 1 1\nT\nT\nT\nC 1 2\nT\n", [][]uint64{{1}, {}, {}, {2}}, "<nil>"},
		{"events behind the last T", "C 1 1\nT\nC 1 2\nC 1 3", [][]uint64{{1}, {2, 3}}, "<nil>"},
		{"no T at all", "C 1 1\nC 1 2\n", [][]uint64{{1, 2}}, "<nil>"},
		{"a fault in the second batch", "C 1 1\nT\nC 1 2\nC 1 x\nT\n", [][]uint64{{1}}, `x.trace:5: key "x" is not an unsigned decimal number`},
	}
	for _, tt := range tests {
		got, err := keysOf("handloom-trace 1\n" + tt.text)
		if diff := cmp.Diff(tt.want, got); fmt.Sprint(err) != tt.err || diff != "" {
			t.Errorf("%s: error is %v, want %s; batches differ (-want +got):\n%s", tt.name, err, tt.err, diff)
		}
	}
}

func TestTicks_StopWithTheLoop(t *testing.T) {
	r := readerOf(t, strings.NewReader("handloom-trace 1\nT\nC 1 1\nT\n"), "x")
	for range r.Ticks() {
		break
	}
	for got, err := range r.Ticks() {
		if err != nil || len(got) != 1 {
			t.Errorf("Ticks = %v, %v; want the second batch", got, err)
		}
	}
}
