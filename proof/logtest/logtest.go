// Package logtest states what every kind of [world.Log] does, as tests, and has what tests of
// worlds need of a log that fails.
package logtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"handloom/world"
)

var errEnough = errors.New("that is enough")

// Run tests the logs that open opens, each empty. What is to be closed is closed by the
// test's Cleanup.
func Run(t *testing.T, open func(t *testing.T) world.Log) {
	t.Run("records are kept in order", func(t *testing.T) { order(t, open(t)) })
	t.Run("two snapshots are kept", func(t *testing.T) { snapshots(t, open(t)) })
}

// Append appends rec to l, and asks again as long as the servers of l are too slow and ctx
// has not ended. A log gives up after a time of its own; asked again, it finds rec in place
// if the servers have it.
func Append(ctx context.Context, l world.Log, prev uint64, rec []byte) (at uint64, err error) {
	for {
		at, err = l.Append(ctx, prev, rec)
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return at, err
		}
	}
}

// order looks at records.
func order(t *testing.T, l world.Log) {
	ctx := t.Context()
	buf := make([]byte, 0, 8)
	for n := range uint64(20) {
		buf = fmt.Append(buf[:0], n) // the log keeps nothing of it
		if at, err := Append(ctx, l, n, buf); err != nil || at != n+1 {
			t.Fatalf("Append: %d, %v", at, err)
		}
	}
	for _, prev := range []uint64{0, 19, 21} {
		if _, err := l.Append(ctx, prev, []byte("other")); err == nil {
			t.Errorf("a record behind record %d is taken, and the last is 20", prev)
		}
	}
	if at, err := l.Tail(ctx); at != 20 || err != nil {
		t.Errorf("Tail: %d, %v", at, err)
	}
	next := uint64(6)
	err := l.Read(ctx, 5, func(at uint64, rec []byte) error {
		if at != next || string(rec) != fmt.Sprint(at-1) {
			t.Errorf("record %d is %q", at, rec)
		}
		if next++; at == 20 {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) || next != 21 {
		t.Errorf("Read ends at record %d: %v", next, err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := l.Read(ended, 20, func(uint64, []byte) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("Read until its context ends: %v", err)
	}
	if _, err := l.Append(ended, 20, buf); err == nil {
		t.Error("Append behind the end of its context")
	}
}

// snapshots looks at snapshots, and at what is trimmed behind them.
func snapshots(t *testing.T, l world.Log) {
	ctx := t.Context()
	for n := range uint64(30) {
		if _, err := Append(ctx, l, n, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	save := func(at uint64, err error) error {
		return l.Save(ctx, at, func(w io.Writer) error {
			fmt.Fprintf(w, "state %d", at)
			return err
		})
	}
	if err := save(4, errEnough); err == nil {
		t.Error("a snapshot whose writing failed is kept")
	}
	if err := l.Trim(ctx, 1); err == nil {
		t.Error("records are trimmed, and there are no snapshots")
	}
	for _, at := range []uint64{10, 0, 25, 20} {
		if err := save(at, nil); err != nil {
			t.Fatal(err)
		}
	}
	if saved, err := l.Saved(ctx); err != nil || !slices.Equal(saved, []uint64{25, 20}) {
		t.Errorf("snapshots %v, %v", saved, err)
	}
	r, err := l.Load(ctx, 20)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || string(b) != "state 20" {
		t.Errorf("the snapshot is %q, %v", b, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := l.Load(ctx, 10); err == nil {
		t.Error("a snapshot that is gone is loaded")
	}
	if err := l.Trim(ctx, 21); err == nil {
		t.Error("records behind the older snapshot are trimmed")
	}
	for range 2 {
		if err := l.Trim(ctx, 20); err != nil {
			t.Error(err)
		}
	}
	if err := l.Read(ctx, 0, func(uint64, []byte) error { return errEnough }); errors.Is(err, errEnough) || err == nil {
		t.Errorf("the first record is read: %v", err)
	}
	if err := l.Read(ctx, 20, func(at uint64, _ []byte) error {
		if at != 21 {
			t.Errorf("record %d follows 20", at)
		}
		return errEnough
	}); !errors.Is(err, errEnough) {
		t.Error(err)
	}
}
