package world_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"handloom/journal"
	kit "handloom/proof/game"
	"handloom/store"
	"handloom/world"
)

// A server is a world that runs on a journal. Its calls leave keys.
type server struct {
	*kit.Game
	*running
	journal *journal.Journal
}

// A fault runs before the program's tick.
type fault func(ctx context.Context, s *server, t world.Tick) error

func (s *server) options(f fault) world.Options {
	return world.Options{
		Version: "losses", SnapshotTicks: 20, DigestTicks: 4, Init: s.Init,
		Tick: func(ctx context.Context, w *store.Writer, t world.Tick) error {
			if err := f(ctx, s, t); err != nil {
				return err
			}
			return s.Tick(ctx, w, t)
		},
	}
}

func noFault(context.Context, *server, world.Tick) error { return nil }

func newServer(t *testing.T, dir string) *server {
	t.Helper()
	j, err := journal.Open(dir, journal.Options{Sync: journal.Never})
	noError(t, err)
	return &server{Game: kit.New(1, 0), journal: j}
}

// start opens the world of dir and runs it.
func start(t *testing.T, dir string, f fault) *server {
	t.Helper()
	s := newServer(t, dir)
	s.run(t, s.options(f))
	return s
}

func (s *server) run(t *testing.T, o world.Options) {
	t.Helper()
	w, err := world.Open(t.Context(), s.Store, s.journal, o)
	noError(t, err)
	s.running = runWorld(nil, w)
}

// kill ends the server without a snapshot, and returns the error of Run.
func (s *server) kill(t *testing.T) error {
	t.Helper()
	s.stop()
	err := <-s.done
	crash(t, s.World)
	noError(t, s.journal.Close())
	return err
}

// calls makes the calls from to through last, which are acknowledged.
func (s *server) calls(t *testing.T, from, last uint64) {
	t.Helper()
	for key := from; key <= last; key++ {
		noError(t, errorOf(s.World.Submit(t.Context(), s.Leave(key))))
	}
}

// wantKeys checks that the state has the keys 1 to last except one, and that the world continues.
func (s *server) wantKeys(t *testing.T, last, except uint64) {
	t.Helper()
	s.calls(t, last+1, last+3)
	var got, want []uint64
	noError(t, s.World.Read(t.Context(), func(context.Context, world.Tick) error {
		for _, n := range s.Notes.All() {
			got = append(got, n.Key)
		}
		return nil
	}))
	for key := uint64(1); key <= last+3; key++ {
		if key != except {
			want = append(want, key)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Fatalf("keys: got %v, want %v", got, want)
	}
	if err := s.kill(t); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func lastFile(t *testing.T, dir, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return files[len(files)-1]
}

func TestLoss_DamagedSnapshot(t *testing.T) {
	dir := t.TempDir()
	s, last := start(t, dir, noFault), uint64(50)
	for s.calls(t, 1, last); s.World.Status().SavedTick == 0; last++ {
		s.calls(t, last+1, last+1) // a snapshot is saved beside the ticks
	}
	_ = s.kill(t)
	flip(t, lastFile(t, dir, "*.snap"))
	s = start(t, dir, noFault)
	equal(t, "bad snapshots", s.World.Status().BadSnapshots, 1)
	s.wantKeys(t, last, 0)
}

func TestLoss_LastFileCut(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, noFault)
	s.calls(t, 1, 50)
	_ = s.kill(t)
	backup := t.TempDir()
	noError(t, os.CopyFS(filepath.Join(backup, "copy"), os.DirFS(dir)))
	noError(t, os.Truncate(lastFile(t, dir, "*.log"), 1<<13))
	_, err := journal.Open(dir, journal.Options{})
	var damage *journal.CorruptError
	if wantError(t, err, journal.ErrCorrupt); !errors.As(err, &damage) {
		t.Fatal(err)
	}
	t.Run("without a copy", func(t *testing.T) {
		noError(t, errorOf(journal.Repair(t.Context(), dir, damage.At)))
		left := damage.At - 2 // record 1 begins the term
		failIf(t, left < 20 || left >= 50, "%d calls are left", left)
		start(t, dir, noFault).wantKeys(t, left, 0)
	})
	t.Run("with a copy", func(t *testing.T) { start(t, filepath.Join(backup, "copy"), noFault).wantKeys(t, 50, 0) })
}

func TestLoss_ProgramThatPanics(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, func(_ context.Context, _ *server, t world.Tick) error {
		if t.Number > 30 {
			panic("a bad program")
		}
		return nil
	})
	s.calls(t, 1, 30)
	wantError(t, errorOf(s.World.Submit(t.Context(), s.Leave(31))), world.ErrTick)
	wantError(t, s.kill(t), world.ErrTick)
	start(t, dir, noFault).wantKeys(t, 31, 0) // the record of call 31 is in the log
}

func TestLoss_InputThatFails(t *testing.T) {
	dir := t.TempDir()
	bad := func(ctx context.Context, s *server, _ world.Tick) error {
		_, err := s.Flush(ctx)
		for _, n := range s.Notes.All() {
			if n.Key == 31 {
				return errors.New("a bad input")
			}
		}
		return err
	}
	s := start(t, dir, bad)
	s.calls(t, 1, 30)
	tick := s.World.Status().Tick + 1
	wantError(t, errorOf(s.World.Submit(t.Context(), s.Leave(31))), world.ErrTick)
	wantError(t, s.kill(t), world.ErrTick)
	j, err := journal.Open(dir, journal.Options{})
	noError(t, err)
	noError(t, world.SkipInput(t.Context(), j, tick))
	noError(t, j.Close())
	s = start(t, dir, bad)
	s.calls(t, 32, 33)
	s.wantKeys(t, 33, 31)
}

// The state itself fails every later tick. Calls acknowledged before are not lost.
func TestLoss_PoisonedState(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, func(_ context.Context, s *server, _ world.Tick) error {
		if s.Notes.Len() >= 30 {
			return errors.New("a poisoned state")
		}
		return nil
	})
	s.calls(t, 1, 30)
	last := s.World.Status().Tick
	wantError(t, errorOf(s.World.Submit(t.Context(), s.Leave(31))), world.ErrTick)
	wantError(t, s.kill(t), world.ErrTick)

	mended := newServer(t, t.TempDir())
	from, err := journal.OpenRead(dir)
	noError(t, err)
	o := mended.options(noFault)
	noError(t, world.Replay(t.Context(), mended.Store, from, o, last))
	noError(t, from.Close())
	o.Init = nil // the store has the state
	mended.run(t, o)
	mended.wantKeys(t, 30, 0)
}
