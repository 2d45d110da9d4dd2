package world_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"handloom/store"
	"handloom/world"
)

// A rotten log damages snapshots.
type rotten struct {
	world.Log
	bad     map[uint64]bool // by position: one byte differs
	lost    map[uint64]bool // unreadable
	where   int             // position of that byte, from the middle; negative: from the end
	trimmed int
}

func newRotten() *rotten {
	return &rotten{Log: world.Memory(), bad: make(map[uint64]bool), lost: make(map[uint64]bool)}
}

func (l *rotten) Load(ctx context.Context, at uint64) (io.ReadCloser, error) {
	r, err := l.Log.Load(ctx, at)
	if err != nil || !l.bad[at] && !l.lost[at] {
		return r, err
	}
	b, err := io.ReadAll(r)
	if l.lost[at] {
		return io.NopCloser(io.MultiReader(bytes.NewReader(b[:len(b)/2]), failing{})), err
	}
	place := (len(b)/2 + l.where) % len(b)
	if l.where < 0 {
		place = len(b) + l.where
	}
	b[place] ^= 4
	return io.NopCloser(bytes.NewReader(b)), err
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errLost }

func (l *rotten) Save(ctx context.Context, at uint64, write func(w io.Writer) error) error {
	delete(l.bad, at)
	return l.Log.Save(ctx, at, write)
}

func (l *rotten) Trim(ctx context.Context, through uint64) error {
	l.trimmed++
	return l.Log.Trim(ctx, through)
}

type rejecting struct{ *rotten }

func (l rejecting) Reject(ctx context.Context, at uint64) error {
	return l.Log.(interface {
		Reject(context.Context, uint64) error
	}).Reject(ctx, at)
}

func TestSnapshot_OneDamagedIsSurvived(t *testing.T) {
	seeds := uint64(30)
	if testing.Short() {
		seeds = 6
	}
	for seed := range seeds {
		inBubble(t, fmt.Sprint("seed=", seed), func(t *testing.T) { surviveDamage(t, rand.New(rand.NewPCG(seed, 9))) })
	}
}

func surviveDamage(t *testing.T, random *rand.Rand) {
	l := rejecting{newRotten()}
	g, w := newWorld(t, store.Options{}, l)
	var newest uint64 // at the last damage
	for range 25 {
		stepsSaving(t, w, 1+random.IntN(5))
		if saved := snapshotsOf(t, l); saved[0] != newest && random.IntN(2) == 0 {
			newest = saved[0]
			l.where = random.IntN(1 << 16)
			l.bad[saved[random.IntN(len(saved))]] = len(saved) > 1
		}
		if random.IntN(3) > 0 {
			continue
		}
		crash(t, w)
		again := newGame(t, store.Options{})
		w = mustOpen(t, again, l)
		equal(t, fmt.Sprint("digest after tick ", w.Status().Tick), digest(t, again), digest(t, g))
		g = again
	}
	crash(t, w)
	for _, at := range snapshotsOf(t, l) {
		l.bad[at] = true
	}
	again := newGame(t, store.Options{})
	wantError(t, errorOf(world.Open(t.Context(), again.Store, l, again.options())), world.ErrCorrupt)
}

func flip(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	noError(t, err)
	b[len(b)/2] ^= 4
	noError(t, os.WriteFile(file, b, 0o600))
}

func TestSnapshot_OlderIsVerifiedBeforeTrim(t *testing.T) {
	for name, spoil := range map[string]func(l *rotten, at uint64){
		"it cannot be read":                     func(l *rotten, at uint64) { l.lost[at] = true },
		"it is damaged, and the log keeps that": func(l *rotten, at uint64) { l.bad[at] = true },
		"its trailer is damaged":                func(l *rotten, at uint64) { l.bad[at], l.where = true, -3 },
	} {
		inBubble(t, name, func(t *testing.T) {
			l := newRotten()
			w := mustOpen(t, newGame(t, store.Options{}), l)
			stepsSaving(t, w, 16) // saves after ticks 7 and 14
			saved, trimmed := snapshotsOf(t, l), l.trimmed
			failIf(t, len(saved) != 2 || trimmed == 0, "snapshots %v, %d trims", saved, trimmed)
			spoil(l, saved[0])
			stepsSaving(t, w, 7)
			s := w.Status()
			failIf(t, l.trimmed != trimmed || !strings.Contains(s.SaveErr, fmt.Sprintf("snapshot of record %d", saved[0])), "%d trims; %v", l.trimmed-trimmed, s)
			stepsSaving(t, w, 7)
			s = w.Status()
			failIf(t, l.trimmed != trimmed+1 || s.SaveErr != "", "after another snapshot: %d trims; %v", l.trimmed-trimmed, s)
			mustClose(t, w)
		})
	}
}

func TestReplay_RejectsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := rejecting{newRotten()}
		w := mustOpen(t, newGame(t, store.Options{}), l)
		stepsSaving(t, w, 16)
		crash(t, w)
		saved := snapshotsOf(t, l)
		l.bad[saved[0]] = true
		g := newGame(t, store.Options{})
		noError(t, world.Replay(t.Context(), g.Store, l, g.options(), 16))
		after := snapshotsOf(t, l)
		failIf(t, !slices.Equal(after, saved), "snapshots %v, want %v", after, saved)
	})
}

func TestSnapshot_RejectFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stubborn{newRotten()}
		w := mustOpen(t, newGame(t, store.Options{}), l)
		stepsSaving(t, w, 16)
		saved := snapshotsOf(t, l)
		l.bad[saved[0]] = true
		stepsSaving(t, w, 7)
		after := snapshotsOf(t, l)
		failIf(t, !slices.Equal(after, saved), "snapshots %v, want %v", after, saved)
		s := w.Status()
		failIf(t, !strings.Contains(s.SaveErr, errRefuses.Error()), "%v", s)
		crash(t, w)
	})
}

type stubborn struct{ *rotten }

var errRefuses = errors.New("the log rejects nothing")

func (stubborn) Reject(context.Context, uint64) error { return errRefuses }

// A momentary log counts snapshots that a World rejects.
type momentary struct {
	faulty
	rejected int
}

func (l *momentary) Reject(context.Context, uint64) error {
	l.rejected++
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
	l := &momentary{faulty: faulty{Log: world.Memory()}}
	w := mustOpen(t, newGame(t, store.Options{}), l)
	stepsSaving(t, w, 16)
	loads, once := 0, false
	l.load = func(ctx context.Context, at uint64) (io.ReadCloser, error) {
		r, err := l.Log.Load(ctx, at)
		if loads++; err != nil || once && loads > 1 {
			return r, err
		}
		return failing(r)
	}
	stepsSaving(t, w, 7) // the save verifies the newest snapshot first
	crash(t, w)
	before := snapshotsOf(t, l)
	failIf(t, len(before) != 2 || loads == 0, "snapshots %v; %d loads", before, loads)

	loads, once = 0, true
	g, w := newWorld(t, store.Options{}, l)
	equal(t, "bad snapshots", w.Status().BadSnapshots, 1)
	stepsSaving(t, w, 15)
	saved, s := snapshotsOf(t, l), w.Status()
	failIf(t, s.SaveErr != "" || slices.Contains(saved, before[1]), "after the failure: snapshots %v; %v", saved, s)
	equal(t, "rejected snapshots", l.rejected, 0)
	want := digest(t, g)
	crash(t, w)
	again, w := newWorld(t, store.Options{}, l)
	equal(t, "digest", digest(t, again), want)
	mustClose(t, w)
}
