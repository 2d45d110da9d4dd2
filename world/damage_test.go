package world_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

func TestSnapshot_DamagedIsNotKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	j := openJournal(t, dir)
	g, w := newWorld(t, store.Options{}, j)
	for range 2 {
		steps(t, w, 5)
		mustClose(t, w) // saves a snapshot
		w = mustOpen(t, g, j)
	}
	crash(t, w)
	before := snapshotsOf(t, j)
	mustCloseJournal(t, j)
	flip(t, filepath.Join(dir, fmt.Sprintf("%016x.snap", before[0])))

	j = openJournal(t, dir)
	g = newGame(t, store.Options{})
	w = mustOpen(t, g, j)
	steps(t, w, 1)  // before the next snapshot is due
	mustClose(t, w) // saves another snapshot
	s := w.Status()
	failIf(t, s.BadSnapshots != 1 || s.SaveErr != "", "%+v", s)
	after := snapshotsOf(t, j)
	failIf(t, !slices.Equal(after, []uint64{w.Status().Position, before[1]}), "snapshots %v, and %v before", after, before)
	mustCloseJournal(t, j)
	flip(t, filepath.Join(dir, fmt.Sprintf("%016x.snap", after[0])))

	j = openJournal(t, dir)
	again := newGame(t, store.Options{})
	w = mustOpen(t, again, j)
	equal(t, "digest from the older snapshot", digest(t, again), digest(t, g))
	mustClose(t, w)
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
