package journal

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inline runs work beside the caller at once, so that a test sees one order.
func inline(f func()) { f() }

// small are options of a journal with short segments on d.
func small(d disk) Options {
	return Options{SegmentBytes: leastSegment, disk: d, background: inline, salt: 0x5a17}
}

// noError ends the test if there is an error.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustOpen(t *testing.T, o Options) *Journal {
	t.Helper()
	j, err := Open("", o)
	noError(t, err)
	return j
}

func mustClose(t *testing.T, j *Journal) {
	t.Helper()
	noError(t, j.Close())
}

// record is what the tests append at a position: no two are equal, and the lengths
// differ, none and several sectors among them.
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

// readAll reads what lies behind after, and the error that is not of reaching the
// end. It fails the test if a record is not the one that was appended there.
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

// wantRecords fails the test unless the journal has the records 1 to n.
func wantRecords(t *testing.T, j *Journal, n int) {
	t.Helper()
	if got, err := readAll(t, j, 0); got != n || err != nil {
		t.Fatalf("read %d records, %v; want %d", got, err, n)
	}
}
