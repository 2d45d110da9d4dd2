package highwater_test

import (
	"math"
	"testing"

	"handloom/internal/check"
	"handloom/internal/highwater"
)

func TestTrim_ReleasesABurst(t *testing.T) {
	for before := range highwater.Period {
		var h highwater.Mark
		s := make([]uint64, 0, 10_000)
		for range before {
			s = highwater.Trim(&h, s[:2500]) // a quarter of it is worth keeping the rest
		}
		s = highwater.Trim(&h, s[:10_000])
		uses := 0
		for ; s != nil; uses++ {
			s = highwater.Trim(&h, s[:10])
		}
		if uses < highwater.Period || uses >= 2*highwater.Period {
			t.Errorf("after %d uses, a burst is kept for %d uses", before, uses)
		}
	}
}

func TestTrim_KeepsMemoryNeededOncePerPeriod(t *testing.T) {
	var h highwater.Mark
	s := make([]byte, 0, 10_000)
	for use := range 1000 {
		n := 0
		if use%highwater.Period == 0 {
			n = 3000
		}
		if s = highwater.Trim(&h, s[:n]); s == nil {
			t.Fatalf("it is given back in use %d", use)
		}
	}
}

func TestTrim_KeepsSmallArrays(t *testing.T) {
	var h highwater.Mark
	bytes, words := make([]byte, 0, 8192), make([]uint64, 0, 1024)
	for range 1000 {
		if bytes, words = highwater.Trim(&h, bytes[:0]), highwater.Trim(&h, words[:0]); bytes == nil || words == nil {
			t.Fatal("a small array is given back")
		}
	}
	if highwater.Trim(&h, make([]uint64, 1025)[:0]) != nil {
		t.Error("one that is not small is kept")
	}
}

func TestRoom_GrowsAtOnceAndShrinksLater(t *testing.T) {
	var h highwater.Mark
	var s []int
	small := 0
	for use := range 1000 {
		n := use % 7
		if use == 500 {
			n = 100_000
		}
		if s = highwater.Room(&h, s, n); len(s) != n {
			t.Fatalf("%d elements, want %d", len(s), n)
		}
		if cap(s) < 100_000 {
			small++
		}
	}
	if small < 1000-2*highwater.Period || small > 1000-highwater.Period {
		t.Errorf("the array was small %d times", small)
	}
	if n := testing.AllocsPerRun(100, func() { s = highwater.Room(&h, s, 5) }); n > 0 && !check.Cheap && testing.CoverMode() == "" {
		t.Errorf("it is made anew each time")
	}
}

func TestMark_PeriodEnds(t *testing.T) {
	var h highwater.Mark
	for use := 1; use <= 3*highwater.Period; use++ {
		n := use / highwater.Period * 10
		h.Note(n, 0)
		if h.Begins() != (use%highwater.Period == 0) {
			t.Errorf("use %d: a period begins: %t", use, h.Begins())
		}
	}
	if h.Recent() != 30 { // the last use was the first of the most
		t.Errorf("recent is %d", h.Recent())
	}
	h.Note(math.MaxInt, 0)
	if h.Note(0, 0) <= 0 {
		t.Error("a burst beyond all bounds overflows")
	}
}
