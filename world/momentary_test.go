package world_test

import (
	"context"
	"io"
	"io/fs"
	"slices"
	"syscall"
	"testing"

	"handloom/store"
	"handloom/world"
)

type momentary struct {
	world.Log
	failing  func(r io.ReadCloser) (io.ReadCloser, error)
	loads    int
	rejected []uint64
}

func (l *momentary) Load(ctx context.Context, at uint64) (io.ReadCloser, error) {
	r, err := l.Log.Load(ctx, at)
	if err != nil || l.failing == nil {
		return r, err
	}
	l.loads++
	return l.failing(r)
}

func (l *momentary) Reject(_ context.Context, at uint64) error {
	l.rejected = append(l.rejected, at)
	return nil
}

type brokenReader struct {
	io.Reader
	err error
}

func (r *brokenReader) Read(b []byte) (n int, err error) {
	if n, err = r.Reader.Read(b); err == io.EOF && r.err != nil {
		err, r.err = r.err, nil
	}
	return n, err
}

func (r *brokenReader) Close() error { return nil }

func TestSnapshot_SystemErrorIsNotDamage(t *testing.T) {
	after := func(n int64, err error) func(r io.ReadCloser) (io.ReadCloser, error) {
		return func(r io.ReadCloser) (io.ReadCloser, error) {
			return &brokenReader{io.LimitReader(r, n), err}, r.Close()
		}
	}
	for name, failing := range map[string]func(r io.ReadCloser) (io.ReadCloser, error){
		"no descriptor": func(io.ReadCloser) (io.ReadCloser, error) {
			return nil, &fs.PathError{Op: "open", Path: "snapshot", Err: syscall.EMFILE}
		},
		"first read":           after(0, syscall.EIO),
		"read in the head":     after(40, syscall.EIO),
		"read in the state":    after(600, syscall.EIO),
		"connection that ends": after(600, io.ErrUnexpectedEOF),
		"last byte":            after(1<<40, syscall.EIO),
	} {
		inBubble(t, name, func(t *testing.T) { failForAMoment(t, failing) })
	}
}

func failForAMoment(t *testing.T, failing func(r io.ReadCloser) (io.ReadCloser, error)) {
	l := &momentary{Log: world.Memory()}
	_, w := newWorld(t, store.Options{}, l)
	stepsSaving(t, w, 16)
	l.failing = failing
	stepsSaving(t, w, 7) // the save verifies the newest snapshot first
	crash(t, w)
	before := snapshotsOf(t, l)
	failIf(t, len(before) != 2 || l.loads == 0, "snapshots %v; %d loads", before, l.loads)

	l.failing = func(r io.ReadCloser) (io.ReadCloser, error) {
		l.failing = nil
		return failing(r)
	}
	g := newGame(t, store.Options{})
	w = mustOpen(t, g, l)
	equal(t, "bad snapshots", w.Status().BadSnapshots, 1)
	stepsSaving(t, w, 15)
	saved, s := snapshotsOf(t, l), w.Status()
	failIf(t, s.SaveErr != "" || slices.Contains(saved, before[1]), "after the failure: snapshots %v; %v", saved, s)
	failIf(t, len(l.rejected) > 0, "rejected: %v, want none", l.rejected)
	want := digest(t, g)
	crash(t, w)
	again := newGame(t, store.Options{})
	w = mustOpen(t, again, l)
	equal(t, "digest", digest(t, again), want)
	mustClose(t, w)
}
