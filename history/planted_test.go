package history_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"handloom/history"
	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// A plant is a fault of a game in one tick. The game notes the truth about it.
type plant struct {
	name string
	tick uint64
	now  uint64 // the current tick

	item     store.ID
	from, to string // of the field
	sequence int    // of the command
}

func (p *plant) is(name string) bool { return p.name == name && p.now == p.tick }

func (p *plant) note(id store.ID, from, to any) {
	p.item, p.from, p.to = id, fmt.Sprint(from), fmt.Sprint(to)
}

// set sets a field and notes it.
func set[T any](p *plant, id store.ID, field *T, to T) {
	p.note(id, *field, to)
	*field = to
}

func (p *plant) truth() *plant { return p }

// A planted is a game with a plant.
type planted interface {
	game() (*store.Store, world.Options, history.Checks, error)
	truth() *plant
}

// A recording is a journal with a planted fault.
type recording struct {
	plant // the truth
	dir   string
	start func(workers int) planted

	journal   journal.Options
	snapshots int // ticks between two
	kill      func()
}

func newRecording(t *testing.T, p plant, start func(workers int, p plant) planted) *recording {
	return &recording{
		plant: p, dir: filepath.Join(t.TempDir(), "log"), start: func(workers int) planted { return start(workers, p) },
		journal: journal.Options{Sync: journal.Never, Keep: 1 << 30}, snapshots: 1000,
	}
}

func (r *recording) game() history.Game {
	return history.Game{New: func(workers int) (*store.Store, world.Options, history.Checks, error) {
		return r.start(workers).game()
	}}
}

const faultTick = 60

// open opens the world.
func (r *recording) open(t *testing.T) (*world.World, planted) {
	t.Helper()
	log, err := journal.Open(r.dir, r.journal)
	noError(t, err)
	g := r.start(2)
	s, o, _, _ := g.game()
	o.Idle, o.SnapshotTicks = 1, r.snapshots
	w, err := world.Open(t.Context(), s, log, o)
	noError(t, err)
	r.kill = func() {
		noError(t, log.Close()) // as good as a kill
		_ = w.Close(context.Background())
		if p := g.truth(); p.item != 0 {
			r.plant = *p
		}
	}
	return w, g
}

func step(t *testing.T, w *world.World) {
	t.Helper()
	_, err := w.Step(t.Context())
	noError(t, err)
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
