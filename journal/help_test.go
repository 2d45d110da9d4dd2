package journal

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func inline(f func()) { f() }

// small returns options with short segments on d.
func small(d disk) Options {
	return Options{SegmentBytes: minSegment, disk: d, background: inline, salt: 0x5a17}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func failIf(t testing.TB, failed bool, format string, args ...any) {
	t.Helper()
	if failed {
		t.Errorf(format, args...)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustOpen(t *testing.T, o Options) *Journal {
	t.Helper()
	return mustOpenDir(t, "", o)
}

func mustOpenDir(t *testing.T, dir string, o Options) *Journal {
	t.Helper()
	j, err := Open(dir, o)
	noError(t, err)
	return j
}

func mustClose(t *testing.T, j *Journal) {
	t.Helper()
	noError(t, j.Close())
}

func record(at uint64) []byte {
	return fmt.Appendf(make([]byte, 0, 64), "%0*d", (at*at*37)%150, at)
}

func mustAppend(t *testing.T, j *Journal, from, to uint64) {
	t.Helper()
	for at := from; at <= to; at++ {
		if got, err := j.Append(context.Background(), at-1, record(at)); err != nil || got != at {
			t.Fatalf("Append of record %d = %d, %v", at, got, err)
		}
	}
}

var errEnough = errors.New("enough")

// readAll returns the error unless it is the end.
func readAll(t *testing.T, j *Journal, after uint64) (n int, err error) {
	t.Helper()
	ctx := context.Background()
	tail, err := j.Tail(ctx)
	noError(t, err)
	if tail <= after {
		return 0, nil
	}
	want := after
	err = j.Read(ctx, after, func(at uint64, rec []byte) error {
		if want++; at != want || string(rec) != string(record(at)) {
			t.Fatalf("record %d is %q; want record %d, %q", at, rec, want, record(want))
		}
		n++
		if at == tail {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return n, err
}

func wantRecords(t *testing.T, j *Journal, n int) {
	t.Helper()
	wantAfter(t, j, 0, n)
}

func wantAfter(t *testing.T, j *Journal, after uint64, n int) {
	t.Helper()
	if got, err := readAll(t, j, after); got != n || err != nil {
		t.Fatalf("read %d records after %d, %v; want %d", got, after, err, n)
	}
}

// truncated returns the unit that Open removed from the end, if any.
func (j *Journal) truncated() (tornTail, bool) {
	if j.tornTail == nil {
		return tornTail{}, false
	}
	return *j.tornTail, true
}
