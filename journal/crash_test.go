package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

// units is how many records the programs of these tests append.
const units = 50

// program appends records, saves and trims, until all is done or the journal
// takes no more. It returns how many records were acknowledged, and the newest
// snapshot that was. What is refused it offers again.
func program(d *crashDisk) (acked, saved uint64, err error) {
	ctx := context.Background()
	j, err := Open("", small(d))
	if err != nil {
		return 0, 0, err
	}
	defer j.Close()
	try := func(f func() error) {
		if err = f(); errors.Is(err, ErrRefused) {
			err = f()
		}
	}
	for acked < units && err == nil {
		try(func() error {
			_, err := j.Append(ctx, acked, record(acked+1))
			return err
		})
		if err != nil {
			break
		}
		acked++
		if acked%12 != 0 {
			continue
		}
		try(func() error { return save(j, acked, fmt.Sprint("state ", acked)) })
		if err == nil {
			saved = acked
		}
		if saved >= 24 && err == nil {
			try(func() error { return j.Trim(ctx, saved-12) })
		}
	}
	return acked, saved, err
}

// recovered opens what a crash left, and fails the test unless every record that
// was acknowledged is there, nothing that was not appended is, and the journal
// goes on.
func recovered(t *testing.T, d *crashDisk, acked, saved uint64, what func() string) {
	t.Helper()
	for again := range uint64(2) {
		j, err := Open("", small(d))
		if err != nil {
			t.Fatalf("%s: %v", what(), err)
		}
		snapshots, _ := j.Saved(context.Background())
		var after uint64
		if len(snapshots) > 0 {
			after = snapshots[0]
		}
		if after < saved {
			t.Fatalf("%s: the newest of the snapshots %d is not the one of %d, which was acknowledged", what(), snapshots, saved)
		}
		if saved > 0 {
			wantSnapshot(t, j, saved)
		}
		tail, _ := j.Tail(context.Background())
		if tail < acked || tail > acked+1 && again == 0 {
			t.Fatalf("%s: %d records, of which %d were acknowledged", what(), tail, acked)
		}
		if n, err := readAll(t, j, after); uint64(n) != tail-after || err != nil {
			t.Fatalf("%s: read %d of %d records: %v", what(), n, tail-after, err)
		}
		mustAppend(t, j, tail+1, tail+1)
		acked = tail + 1
		mustClose(t, j)
	}
}

// wantSnapshot fails the test unless the snapshot is as the program wrote it.
func wantSnapshot(t *testing.T, j *Journal, at uint64) {
	t.Helper()
	r, err := j.Load(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if b, err := io.ReadAll(r); string(b) != fmt.Sprint("state ", at) || err != nil {
		t.Fatalf("the snapshot of %d is %q, %v", at, b, err)
	}
}

// TestEveryPowerFailure takes the power at every call that changes the disk, and
// then keeps every set of the sectors and names that were not synced, or, where
// those are many, all, none, each alone, all but each and some at random.
func TestEveryPowerFailure(t *testing.T) {
	whole := newCrashDisk()
	if acked, _, err := program(whole); acked != units || err != nil {
		t.Fatalf("undisturbed: %d records, %v", acked, err)
	}
	states := 0
	for stop := 1; stop <= whole.calls; stop++ {
		if testing.Short() && stop%7 != 0 {
			continue
		}
		d := newCrashDisk()
		d.stopAt = stop
		acked, saved, _ := program(d)
		for _, kept := range subsets(d.choices(), uint64(stop)) {
			states++
			found := d.afterPowerFailure(func(i int) bool { return kept[i] })
			recovered(t, found, acked, saved, func() string {
				return fmt.Sprintf("power failed at call %d of %d, kept %v", stop, whole.calls, kept)
			})
		}
	}
	t.Logf("%d calls, %d states", whole.calls, states)
}

// subsets lists what of n things may be kept.
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

// TestEveryFailingCall lets each call fail once. What was acknowledged is kept,
// what was refused is not there.
func TestEveryFailingCall(t *testing.T) {
	whole := newCrashDisk()
	program(whole)
	for fail := 1; fail <= whole.calls; fail++ {
		d := newCrashDisk()
		d.failAt = fail
		acked, saved, err := program(d)
		what := func() string { return fmt.Sprintf("call %d of %d failed", fail, whole.calls) }
		if err == nil && acked != units {
			t.Fatalf("%s: %d records and no error", what(), acked)
		}
		recovered(t, d.clone(), acked, saved, what)
	}
}

// A call that changes a name and fails once is refused, and the journal goes on. Only a
// write or a sync that failed ends it.
func TestFailedName_IsRefused(t *testing.T) {
	whole := newCrashDisk()
	program(whole)
	names := 0
	for fail := 1; fail <= whole.calls; fail++ {
		d := newCrashDisk()
		d.failAt = fail
		acked, _, err := program(d)
		if d.failed != changesName {
			continue
		}
		names++
		if opened := acked > 0; opened && err != nil || errors.Is(err, ErrBroken) {
			t.Errorf("call %d of %d failed: %d records, %v", fail, whole.calls, acked, err)
		}
	}
	if names < 10 {
		t.Errorf("%d calls change names", names)
	}
}

// TestAKilledProcessLosesNothing stops at every call and keeps all that was
// written, synced or not.
func TestAKilledProcessLosesNothing(t *testing.T) {
	whole := newCrashDisk()
	program(whole)
	for stop := 1; stop <= whole.calls; stop++ {
		d := newCrashDisk()
		d.stopAt = stop
		acked, saved, _ := program(d)
		recovered(t, d.clone(), acked, saved, func() string { return fmt.Sprintf("killed at call %d", stop) })
	}
}

// TestAFailedSyncIsNotTriedAgain fails the write of a record, and its sync.
func TestAFailedSyncIsNotTriedAgain(t *testing.T) {
	for _, call := range []int{1, 2} {
		d := newCrashDisk()
		j := mustOpen(t, small(d))
		mustAppend(t, j, 1, 3)
		d.failAt = d.calls + call
		if _, err := j.Append(context.Background(), 3, record(4)); !errors.Is(err, ErrBroken) || !errors.Is(err, errInput) {
			t.Errorf("call %d: %v", call, err)
		}
		calls := d.calls
		if _, err := j.Append(context.Background(), 3, record(4)); !errors.Is(err, ErrBroken) {
			t.Errorf("the next record: %v", err)
		}
		if err := save(j, 3, "state"); !errors.Is(err, ErrBroken) {
			t.Errorf("a snapshot: %v", err)
		}
		if _, err := j.Tail(context.Background()); !errors.Is(err, ErrBroken) {
			t.Errorf("Tail: %v", err)
		}
		if d.calls != calls {
			t.Errorf("%d calls to a disk that failed", d.calls-calls)
		}
		if err := j.Close(); !errors.Is(err, ErrBroken) {
			t.Errorf("Close: %v", err)
		}
	}
}
