package batch_test

import (
	"testing"
)

func TestRunsGiveEveryRangeOfTheSurvivors(t *testing.T) {
	b := newBench(1<<20, 1)
	pass := b.Begin(5)
	kept, n := 0, 0
	for _, task := range []int{3, 0, 4, 2, 1} { // recorded in another order than theirs
		for i := range 7 {
			p := b.Emplace(pass.Queue(task), value{})
			if task == 2 || (task+i)%3 == 0 { // all of one queue, and some of the others
				b.Erase(pass.Queue(4), p)
				n += 2
			} else {
				kept++
			}
		}
	}
	at := 0
	for task := range 5 { // numbered in the order of keys
		for i := range 7 {
			if task == 2 || (task+i)%3 == 0 {
				continue
			}
			b.stagedAt(t, pass.Queue(task), i).N = uint64(at)
			at++
		}
	}
	c := b.commands()
	if counts := b.plan(c); counts.CancelledOut != n || counts.Created != kept {
		t.Fatalf("%+v, want %d cancelled out and %d created", counts, n, kept)
	}
	for lo := range kept + 1 {
		for hi := lo; hi <= kept; hi++ {
			expectRange(t, survivors(c, lo, hi), lo, hi-lo)
		}
	}
}

// stagedAt returns the create of a queue at an offset of its only segment.
func (b *bench) stagedAt(t *testing.T, q queue, offset int) *value {
	t.Helper()
	for segment := range 5 {
		if v, ok := b.Staged(q, nameOf(1+segment, offset)); ok {
			return v
		}
	}
	t.Fatalf("%v holds no create at offset %d", q, offset)
	return nil
}
