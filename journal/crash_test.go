package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

const units = 50

func wantSnapshot(t *testing.T, j *Journal, at uint64) {
	t.Helper()
	r, err := j.Load(context.Background(), at)
	noError(t, err)
	defer r.Close()
	if b, err := io.ReadAll(r); string(b) != fmt.Sprint("state ", at) || err != nil {
		t.Fatalf("the snapshot of %d is %q, %v", at, b, err)
	}
}

// subsets lists sets of n things that a power failure may keep.
func subsets(n int, seed uint64) (sets [][]bool) {
	const mostAll = 6
	if n <= mostAll {
		for bits := range 1 << n {
			sets = append(sets, set(n, func(i int) bool { return bits>>i&1 == 1 }))
		}
		return sets
	}
	sets = append(sets, set(n, func(int) bool { return true }), set(n, func(int) bool { return false }))
	for one := range n {
		sets = append(sets, set(n, func(i int) bool { return i == one }), set(n, func(i int) bool { return i != one }))
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for range 32 {
		sets = append(sets, set(n, func(int) bool { return r.IntN(2) == 0 }))
	}
	return sets
}

func set(n int, has func(i int) bool) []bool {
	s := make([]bool, n)
	for i := range s {
		s[i] = has(i)
	}
	return s
}

func TestAppend_FailedNameIsRefused(t *testing.T) {
	names, n := 0, calls(t, Always)
	for fail := 1; fail <= n; fail++ {
		d, l := newCrashDisk(), lives{}
		err := l.live(d, Always, death{call: fail, fails: true}, units)
		if d.failed != changesName {
			continue
		}
		names++
		opened := l.appended > 0
		failIf(t, opened && err != nil || errors.Is(err, ErrBroken), "call %d of %d failed: %d records, %v", fail, n, l.appended, err)
	}
	failIf(t, names < 10, "%d calls change names", names)
}

func TestSync_FailureIsNotRepeated(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, call := range []int{1, 2} {
		d := newCrashDisk()
		j := mustOpen(t, small(d))
		mustAppend(t, j, 1, 3)
		d.failAt = d.calls + call
		_, err := j.Append(context.Background(), 3, record(4))
		failIf(t, !errors.Is(err, ErrBroken) || !errors.Is(err, errInput), "call %d: %v", call, err)
		calls := d.calls
		wantError(t, errorOf(j.Append(context.Background(), 3, record(4))), ErrBroken)
		wantError(t, errorOf(j.Append(ended, 3, record(4))), ErrBroken)
		wantError(t, save(j, 3, "state"), ErrBroken)
		wantError(t, errorOf(j.Tail(context.Background())), ErrBroken)
		equal(t, "calls to a failed disk", d.calls-calls, 0)
		wantError(t, j.Close(), ErrBroken)
	}
}
