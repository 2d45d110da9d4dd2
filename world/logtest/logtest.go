// Package logtest tests implementations of [world.Log]. See guide/write-a-log.md.
package logtest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"testing"
	"time"

	"handloom/world"
)

// Run tests logs returned by open; each must be empty, and closed by t.Cleanup. Run takes a few
// seconds if the log uses disks or other machines. It does not test recovery after a crash.
func Run(t *testing.T, open func(t *testing.T) world.Log) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			if err := r.holds(t.Context(), open(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

var rules = []struct {
	name  string
	holds func(ctx context.Context, l world.Log) error
}{
	{"records are kept in order", order},
	{"readers follow a writer", follow},
	{"one of two writers appends", compete},
	{"the newest two snapshots are kept", snapshots},
	{"trimmed records leave no gap", trim},
}

// patience limits every call of a log.
const patience = 2 * time.Minute

var errEnough = errors.New("enough records")

// add appends rec, and retries after a timeout.
func add(ctx context.Context, l world.Log, prev uint64, rec []byte) (at uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		at, err = l.Append(ctx, prev, rec)
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			break
		}
	}
	if err == nil && at != prev+1 {
		err = fmt.Errorf("log: Append after record %d: got position %d, want %d", prev, at, prev+1)
	}
	return at, err
}

// read returns the records after position after, up to last. begun is called after the first
// one.
func read(ctx context.Context, l world.Log, after, last uint64, begun func()) (recs [][]byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	next := after + 1
	err = l.Read(ctx, after, func(at uint64, rec []byte) error {
		if at != next {
			return fmt.Errorf("log: Read after record %d: got position %d, want %d", after, at, next)
		}
		if recs = append(recs, bytes.Clone(rec)); len(recs) == 1 && begun != nil {
			begun()
		}
		if next++; at >= last {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return recs, nil
	}
	return recs, fmt.Errorf("log: Read after record %d: got %d records and %v, want %d records and the error of the function", after, len(recs), err, last-after)
}

// fill appends n records, all from one buffer.
func fill(ctx context.Context, l world.Log, n uint64, bytes int) error {
	for buf, at := make([]byte, bytes), uint64(0); at < n; at++ {
		buf[0] = byte(at + 1)
		if _, err := add(ctx, l, at, buf); err != nil {
			return err
		}
	}
	return nil
}

func order(ctx context.Context, l world.Log) error {
	const n = 20
	if at, err := l.Tail(ctx); at != 0 || err != nil {
		return fmt.Errorf("log: Tail of an empty log: got %d, %v, want 0", at, err)
	}
	if err := fill(ctx, l, n, 1); err != nil {
		return err
	}
	for _, prev := range []uint64{0, n - 1, n + 1} {
		if _, err := l.Append(ctx, prev, []byte("other")); err == nil {
			return fmt.Errorf("log: Append after record %d of %d: got no error", prev, n)
		}
	}
	if at, err := l.Tail(ctx); at != n || err != nil {
		return fmt.Errorf("log: Tail: got %d, %v, want %d", at, err, n)
	}
	recs, err := read(ctx, l, 5, n, nil)
	if err != nil {
		return err
	}
	for i, rec := range recs {
		if want := []byte{byte(5 + i + 1)}; !bytes.Equal(rec, want) {
			return fmt.Errorf("record %d: got %q, want %q", 5+i+1, rec, want)
		}
	}
	long := bytes.Repeat([]byte("long"), 300<<10) // above the default limit of input per tick
	if _, err := add(ctx, l, n, long); err != nil {
		return err
	}
	if recs, err := read(ctx, l, n, n+1, nil); err != nil || !bytes.Equal(recs[0], long) {
		return fmt.Errorf("a record of %d bytes: Read gives other bytes, or %v", len(long), err)
	}
	ended, cancel := context.WithCancel(ctx)
	last := uint64(0)
	err = l.Read(ended, 0, func(at uint64, _ []byte) error {
		cancel()
		last = at
		return nil
	})
	if last != 1 || !errors.Is(err, context.Canceled) {
		return fmt.Errorf("log: Read with a context that ends in record 1: got record %d and error %v, want no other record and %v", last, err, context.Canceled)
	}
	if err := l.Read(ended, n+1, func(uint64, []byte) error { return nil }); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("log: Read with an ended context: got error %v, want %v", err, context.Canceled)
	}
	if _, err := l.Append(ended, n+1, long); err == nil {
		return errors.New("log: Append with an ended context: got no error")
	}
	return nil
}

func follow(ctx context.Context, l world.Log) error {
	const n = 10
	if err := fill(ctx, l, 1, 100); err != nil {
		return err
	}
	errs, begun := make(chan error, 2), make(chan bool, 4)
	for range 2 {
		go func() {
			defer func() { begun <- false }()
			_, err := read(ctx, l, 0, n, func() { begun <- true })
			errs <- err
		}()
	}
	reads := <-begun
	reads = <-begun && reads
	err := save(ctx, l, 1, nil)
	for at := uint64(1); reads && err == nil && at < n; at++ {
		_, err = add(ctx, l, at, []byte("more"))
	}
	return errors.Join(err, <-errs, <-errs)
}

func compete(ctx context.Context, l world.Log) error {
	for n := range uint64(10) {
		recs := [2][]byte{fmt.Append(nil, "a", n), fmt.Append(nil, "b", n)}
		var errs [2]error
		var both sync.WaitGroup
		for i, rec := range recs {
			both.Go(func() { _, errs[i] = add(ctx, l, n, rec) })
		}
		both.Wait()
		winner := slices.Index(errs[:], nil)
		if winner < 0 || errs[1-winner] == nil {
			return fmt.Errorf("two Appends after record %d: got errors %v and %v, want one of them", n, errs[0], errs[1])
		}
		there, err := read(ctx, l, n, n+1, nil)
		if err != nil {
			return err
		}
		if !bytes.Equal(there[0], recs[winner]) {
			return fmt.Errorf("record %d: got %q, and Append of %q succeeded", n+1, there[0], recs[winner])
		}
	}
	return nil
}

// save saves a snapshot that contains its position. The write fails with fault.
func save(ctx context.Context, l world.Log, at uint64, fault error) error {
	return l.Save(ctx, at, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "state %d", at)
		return errors.Join(err, fault)
	})
}

// wantSaved verifies all snapshots, and the positions of the newest two.
func wantSaved(ctx context.Context, l world.Log, newest, second uint64) error {
	saved, err := l.Snapshots(ctx)
	if err != nil || len(saved) < 2 || saved[0] != newest || saved[1] != second || !slices.IsSortedFunc(saved, func(a, b uint64) int { return cmp.Compare(b, a) }) {
		return fmt.Errorf("log: Snapshots: got %d, %v, want %d, %d and then older ones", saved, err, newest, second)
	}
	for _, at := range saved {
		r, err := l.Load(ctx, at)
		if err != nil {
			return fmt.Errorf("log: Load of snapshot %d: %w", at, err)
		}
		b, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil || string(b) != fmt.Sprint("state ", at) {
			return fmt.Errorf("snapshot %d: got %q, %v", at, b, err)
		}
	}
	return nil
}

func snapshots(ctx context.Context, l world.Log) error {
	if err := fill(ctx, l, 30, 1); err != nil {
		return err
	}
	if err := save(ctx, l, 4, errEnough); err == nil {
		return errors.New("log: Save with a function that fails: got no error")
	}
	for _, at := range []uint64{10, 0, 25, 20} {
		if err := save(ctx, l, at, nil); err != nil {
			return fmt.Errorf("log: Save of snapshot %d: %w", at, err)
		}
	}
	if err := wantSaved(ctx, l, 25, 20); err != nil {
		return err
	}
	if r, err := l.Load(ctx, 4); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("log: Load of a snapshot that was not saved: got %v, %v, want an fs.ErrNotExist", r, err)
	}
	rejects, may := l.(interface {
		Reject(ctx context.Context, at uint64) error
	})
	if !may {
		return nil
	}
	if err := rejects.Reject(ctx, 20); err != nil {
		return fmt.Errorf("log: Reject of snapshot 20: %w", err)
	}
	if err := save(ctx, l, 15, nil); err != nil {
		return fmt.Errorf("log: Save after Reject: %w", err)
	}
	if err := rejects.Reject(ctx, 20); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("log: Reject of a snapshot that is gone: got error %v, want an fs.ErrNotExist", err)
	}
	return wantSaved(ctx, l, 25, 15)
}

func trim(ctx context.Context, l world.Log) error {
	if err := fill(ctx, l, 30, 1000); err != nil {
		return err
	}
	if err := l.Trim(ctx, 1); err == nil {
		return errors.New("log: Trim without snapshots: got no error")
	}
	for _, at := range []uint64{20, 25} {
		if err := save(ctx, l, at, nil); err != nil {
			return fmt.Errorf("log: Save of snapshot %d: %w", at, err)
		}
	}
	if err := l.Trim(ctx, 21); err == nil {
		return errors.New("log: Trim of records that the older snapshot needs: got no error")
	}
	for range 2 { // the answer of the first Trim may be lost
		if err := l.Trim(ctx, 20); err != nil {
			return fmt.Errorf("log: Trim: %w", err)
		}
	}
	asks, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	first := uint64(1) // a log may keep trimmed records
	err := l.Read(asks, 0, func(at uint64, _ []byte) error {
		first = at
		return errEnough
	})
	if first != 1 || err == nil || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("log: Read of trimmed records: got position %d, %v, want 1 or an error at once", first, err)
	}
	recs, err := read(ctx, l, 20, 30, nil)
	if err == nil && recs[9][0] != 30 {
		err = fmt.Errorf("record 30: got %q", recs[9])
	}
	return err
}
