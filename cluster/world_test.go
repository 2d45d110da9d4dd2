package cluster_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"handloom/cluster"
	"handloom/proof/game"
	"handloom/store"
	"handloom/world"
)

// A played world is one that a test steps.
type played struct {
	*world.World
	*game.Game
	t *testing.T
}

func openWorld(t *testing.T, l world.Log, program string, seen *witness) *played {
	t.Helper()
	g := newGame(t, 2)
	w, err := world.Open(t.Context(), g.Store, l, options(g, program, seen))
	if err != nil {
		t.Fatal(err)
	}
	p := &played{w, g, t}
	t.Cleanup(p.crash)
	return p
}

// crash closes the world without a snapshot.
func (p *played) crash() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.World.Close(ended); err != nil {
		p.t.Error(err)
	}
}

// steps steps until tick n is applied.
func (p *played) steps(n uint64) {
	p.t.Helper()
	for {
		tick, err := p.Step(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		if tick.Number >= n {
			return
		}
	}
}

// until steps until the world owns the log, or does not.
func (p *played) until(owner bool) {
	p.t.Helper()
	for p.Status().Owner != owner {
		if _, err := p.Step(p.t.Context()); err != nil {
			p.t.Fatal(err)
		}
	}
}

// A paused log stands still, as one of a process does that is stopped.
type paused struct {
	*cluster.Log
	mutex sync.Mutex
	wakes chan struct{} // nil: it is not paused
	sleep chan struct{} // closed when an append waits
}

func (p *paused) Append(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
	p.mutex.Lock()
	wakes := p.wakes
	if wakes != nil && p.sleep != nil {
		close(p.sleep)
		p.sleep = nil
	}
	p.mutex.Unlock()
	if wakes != nil {
		<-wakes
	}
	return p.Log.Append(ctx, prev, rec)
}

// An owner that was paused while another one took over finds its record refused. Nothing of
// it was applied, and it follows.
func TestAnOwnerThatWakesIsFenced(t *testing.T) {
	seen, s, o := new(witness), cluster.Embedded(t.TempDir()), alone(t)
	l := &paused{Log: openLog(t, s, 1, o)}
	owner := openWorld(t, l, "game", seen)
	owner.steps(5)
	follower := openWorld(t, openLog(t, s, 1, o), "game", seen)

	asleep := make(chan struct{})
	l.mutex.Lock()
	l.wakes, l.sleep = make(chan struct{}), asleep
	l.mutex.Unlock()
	submitted, stepped := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := owner.Submit(t.Context(), owner.Leave(1))
		submitted <- err
	}()
	go func() {
		_, err := owner.Step(t.Context())
		stepped <- err
	}()
	<-asleep
	follower.until(true)
	follower.steps(9)
	l.mutex.Lock()
	close(l.wakes)
	l.wakes = nil
	l.mutex.Unlock()
	if err := <-stepped; err != nil {
		t.Fatal(err)
	}
	owner.steps(9)
	if st := owner.Status(); st.Owner || st.Overtaken == 0 {
		t.Errorf("the owner that was paused: %v", st)
	}
	select {
	case err := <-submitted:
		if !errors.Is(err, world.ErrNotOwner) {
			t.Errorf("Submit to an owner that was overtaken: %v", err)
		}
	case <-time.After(patience):
		t.Error("Submit to an owner that was overtaken does not return")
	}
	if owner.Notes.Len() != 0 || follower.Notes.Len() != 0 {
		t.Error("a call that was refused is applied")
	}
	seen.wantNoDifference(t)
}

// A stream that takes no more stops the ticks. The state keeps, and when there is room the
// record that was open is the next one.
func TestAFullStreamStopsTheTicks(t *testing.T) {
	c := startServers(t, 1, nil)
	js := operator(t, c)
	l := openLog(t, cluster.URLs(c.URLs(0)), 1, alone(t))
	seen := new(witness)
	w := openWorld(t, l, "game", seen)
	w.steps(10)
	stream, err := js.Stream(t.Context(), cluster.CellID(1).Stream())
	if err != nil {
		t.Fatal(err)
	}
	room := func(bytes int64) {
		config := stream.CachedInfo().Config
		config.MaxBytes = bytes
		if _, err := js.UpdateStream(t.Context(), config); err != nil {
			t.Fatal(err)
		}
	}
	room(int64(stream.CachedInfo().State.Bytes) + 1)
	before, err := w.Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stepped := make(chan error, 1)
	go func() {
		_, err := w.Step(ctx)
		stepped <- err
	}()
	for deadline := time.Now().Add(patience); !strings.Contains(w.Status().AppendErr, "maximum bytes"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("on a full stream: %v", w.Status())
		}
	}
	cancel()
	if err := <-stepped; !errors.Is(err, context.Canceled) {
		t.Errorf("a tick on a full stream: %v", err)
	}
	after, err := w.Digest(t.Context())
	if err != nil || after != before {
		t.Errorf("the state changes on a full stream: %v", err)
	}
	if st := w.Status(); st.Tick != 10 || st.AppendErr == "" {
		t.Errorf("on a full stream: %v", st)
	}
	if _, err := w.Submit(ctx, w.Leave(1)); !errors.Is(err, store.ErrUncertain) && !errors.Is(err, context.Canceled) {
		t.Errorf("Submit on a full stream: %v", err)
	}
	room(-1)
	w.steps(20)
	if st := w.Status(); st.Term != 1 || !st.Owner {
		t.Errorf("when there is room again: %v", st)
	}
}

func TestAWorldOfAnotherProgramOrSchemaIsRefused(t *testing.T) {
	s, o, seen := cluster.Embedded(t.TempDir()), alone(t), new(witness)
	w := openWorld(t, openLog(t, s, 1, o), "game", seen)
	w.steps(120) // behind a snapshot
	refused := func(g *game.Game, program string) {
		t.Helper()
		_, err := world.Open(t.Context(), g.Store, openLog(t, s, 1, o), options(g, program, new(witness)))
		if !errors.Is(err, world.ErrProgram) {
			t.Errorf("a follower of program %q: %v", program, err)
		}
	}
	refused(newGame(t, 1), "another")
	other := newGame(t, 1)
	if _, err := store.Register(other.Store, store.TableOptions[game.Note]{Name: "more"}); err != nil {
		t.Fatal(err)
	}
	refused(other, "game")
	w.steps(125)
}

// The old program hands off to the new one, which goes on with its state; a follower of the
// old one stops where the new one begins.
func TestANewProgramTakesOver(t *testing.T) {
	ctx, s, o, seen := t.Context(), cluster.Embedded(t.TempDir()), alone(t), new(witness)
	old := openWorld(t, openLog(t, s, 1, o), "v1", seen)
	follower := openWorld(t, openLog(t, s, 1, o), "v1", seen)
	old.steps(5)
	follower.steps(5)
	if err := old.Handoff(ctx, "v2"); err != nil {
		t.Fatal(err)
	}
	old.crash()
	next := openWorld(t, openLog(t, s, 1, o), "v2", seen)
	if st := next.Status(); !st.Owner || st.Term != 2 || st.Tick != 5 {
		t.Fatalf("the new program: %v", st)
	}
	next.steps(8)
	if _, err := follower.Step(ctx); !errors.Is(err, world.ErrProgram) {
		t.Errorf("a follower of the old program: %v", err)
	}
	last := openWorld(t, openLog(t, s, 1, o), "v2", seen)
	last.steps(8)
	seen.wantNoDifference(t)
}
