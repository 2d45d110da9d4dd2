package history

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// A fault is a plant and its cause.
type fault struct {
	name  string
	field string // "": the item
	want  Cause
	later uint64 // ticks from the fault to the question
	calls int    // number of calls that make the fault
}

// byCommand is a command of a task.
func byCommand(kind, system string, task int) Cause {
	return Cause{Kind: kind, System: system, Task: task}
}

// place is a write by a task, or outside of tasks.
func place(kind, system string, task int) Cause {
	return Cause{Kind: kind, System: system, Task: task, Sequence: -1}
}

// byCall is a command of the last of the calls that a tick takes.
func byCall(number int, lost ...Cause) Cause {
	return Cause{Kind: "put", Task: -1, Call: number, Lost: lost}
}

// -short plays each sixth fault.
var faults = []fault{
	{name: "put", field: "Team", want: byCommand("put", "mend", 0)},
	{name: "superseded put", field: "Team", want: Cause{Kind: "put", System: "mend", Sequence: 1, Lost: []Cause{byCommand("put", "mend", 0)}}},
	{name: "create", want: byCommand("create", "steer", 1)},
	{name: "erase by handle", want: byCommand("erase", "mend", 0)},
	{name: "erase by row", want: byCommand("erase", "fly", 0)},
	{name: "erase all", want: byCommand("erase all", "hit", 0)},
	{name: "set", field: "hull.Hit", want: byCommand("set", "mend", 0)},
	{name: "for each", field: "Team", want: place("in place", "steer", 2)},
	{name: "fold", field: "Team", want: place("in place", "steer", -1), calls: 1},
	{name: "column", field: "hull.Hit", want: place("in place", "rest", 0)},
	{name: "late", field: "hull.Hit", want: place("in place", "rest", 0)},
	{name: "groups", field: "Team", want: place("in place", "count", 1)},
	{name: "between phases", field: "Team", want: place("in place", "", -1)},
	{name: "in a system", field: "hull.Hit", want: place("in place", "suffer", -1)},
	{name: "insert", field: "Team", want: place("at once", "", -1)},
	{name: "dangling link", want: byCommand("erase", "hit", 0)},
	{name: "one call", field: "Team", want: byCall(1), calls: 1},
	{name: "two calls", field: "Team", want: byCall(2, byCall(1)), calls: 2},
	{name: "long before", field: "Team", want: byCall(1), calls: 1, later: 500},
	{name: "unset", field: "ammo", want: byCommand("unset", "supply", 0)},
	{name: "wrong set", field: "ammo", want: byCommand("set", "supply", 0)},
	{name: "remove", field: "ammo", want: place("at once", "", -1)},
	{name: "stable", field: "Color", want: place("in place", "supply", 0)},
	{name: "lost post", want: byCommand("erase", "supply", 0)},
}

// unseen are faults that lead to states of a right program.
var unseen = []string{"erase by row", "erase all", "unset", "remove"}

const faultTick = 60

// A match is the folder of an arena.
type match struct {
	plant // the truth
	dir   string
	journal.Options
	snapshots int // ticks between two
}

func newMatch(t *testing.T, p plant) *match {
	return &match{plant: p, dir: filepath.Join(t.TempDir(), "log"), Options: journal.Options{Sync: journal.Never, Keep: 1 << 30}, snapshots: 1000}
}

// open opens a world, which kill ends without a snapshot.
func (m *match) open(t testing.TB) (w *world.World, a *arena, kill func()) {
	t.Helper()
	log, err := journal.Open(m.dir, m.Options)
	noError(t, err)
	a = newArena(2, m.plant)
	o := a.options()
	o.SnapshotTicks = m.snapshots
	w, err = world.Open(t.Context(), a.Store, log, o)
	noError(t, err)
	return w, a, func() {
		noError(t, log.Close()) // as good as a kill
		_ = w.Close(context.Background())
		m.plant = a.plant
	}
}

// play plays in a new world up to a tick or until it halts, then calls last, and kills the world.
func (m *match) play(t *testing.T, until uint64, last func(t *testing.T, w *world.World, a *arena)) *match {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, a, kill := m.open(t)
		for w.Status().Tick < until && w.Status().Halted == "" {
			_, _ = w.Step(t.Context())
			time.Sleep(time.Second / 60)
		}
		if last != nil {
			last(t, w, a)
		}
		kill()
	})
	return m
}

// inArena plays an arena with a fault in a new folder.
func inArena(t *testing.T, name string, ticks uint64) *match {
	t.Helper()
	return newMatch(t, plant{name: name, tick: faultTick}).play(t, ticks, nil)
}

// submit plays a tick that takes calls.
func submit(t *testing.T, w *world.World, calls ...func(q store.Queue)) {
	t.Helper()
	for _, record := range calls {
		go func() {
			_, _ = w.Submit(t.Context(), func(q store.Queue) error { record(q); return nil })
		}()
		synctest.Wait()
	}
	_, err := w.Step(t.Context())
	noError(t, err)
	synctest.Wait()
}

// play plays a fault in several worlds.
func (f fault) play(t *testing.T) *match {
	t.Helper()
	m := newMatch(t, plant{name: f.name, tick: faultTick})
	for _, until := range []uint64{17, 18, faultTick - 1, 83, 100 + f.later} {
		m.play(t, until, func(t *testing.T, w *world.World, a *arena) {
			h, first := head(a.fighters.All())
			before := first.Team
			var calls []func(q store.Queue)
			for n := range f.calls {
				calls = append(calls, func(q store.Queue) { a.fighters.Put(q, h, fighter{Team: 1000 + n}) })
			}
			if until == faultTick-1 && f.name == "fold" {
				submit(t, w, func(q store.Queue) { a.orders.Emplace(q, order{By: h}) })
			} else if until == faultTick-1 && f.calls > 0 {
				submit(t, w, calls...)
				a.note(h.ID, before, 1000+f.calls-1)
			}
		})
	}
	return m
}

func TestWhy_NamesPlantedFaults(t *testing.T) {
	lines := markers(t, "arena_test.go")
	for i, f := range faults {
		if testing.Short() && i%6 > 0 {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			m := f.play(t)
			h := mustOpen(t, m.dir, m.game(), Options{})
			got, err := h.Why(t.Context(), m.item, f.field, m.tick+f.later)
			noError(t, err)
			f.want.Sequence += m.sequence
			if got.Tick != m.tick || got.Item != m.item || short(got.By) != short(f.want) {
				t.Errorf("got tick %d, item %v, %s, want tick %d, item %v, %s", got.Tick, got.Item, short(got.By), m.tick, m.item, short(f.want))
			}
			if f.field != "" && (got.From != m.from || got.To != m.to) {
				t.Errorf("got %s -> %s, want %s -> %s", got.From, got.To, m.from, m.to)
			}
			if line := lines[f.name]; line != "" && filepath.Base(got.By.Where) != line {
				t.Errorf("got line %s, want %s", got.By.Where, line)
			}
			m.compareScript(t, h, f)
		})
	}
}

// markers returns the lines with "// fault NAME" by name, as FILE:LINE.
func markers(t *testing.T, file string) map[string]string {
	text, err := os.ReadFile(file)
	noError(t, err)
	lines := map[string]string{}
	for i, line := range strings.Split(string(text), "\n") {
		if _, name, ok := strings.Cut(line, "// fault "); ok {
			lines[name] = fmt.Sprintf("%s:%d", file, i+1)
		}
	}
	return lines
}

// short returns the parts of a cause that a fault knows.
func short(c Cause) string {
	texts := []string{fmt.Sprintf("%s %q task %d command %d call %d", c.Kind, c.System, c.Task, c.Sequence, c.Call)}
	for _, lost := range c.Lost {
		texts = append(texts, short(lost))
	}
	return strings.Join(texts, ", without effect: ")
}

// compareScript wants a script that fails with the fault and not without: in the program, or in
// the calls. It has the calls that make the fault.
func (m *match) compareScript(t *testing.T, h *History, f fault) {
	t.Helper()
	s, tick, want := m.shortest(t, h)
	if slices.Contains(unseen, f.name) != (s == nil) {
		t.Errorf("rules after tick %d: %q", tick, want)
	}
	if s == nil {
		return
	}
	if calls := strings.Count(s.Text, "call"); calls != min(f.calls, 1) || strings.Count(s.Text, "\n") != 1+calls {
		t.Errorf("got %d calls, want %d:\n%s", calls, f.calls, s.Text)
	}
	if got := played(t, m.game(), s, "rules"); got != want {
		t.Errorf("got failure %q, want %q", got, want)
	}
	if f.calls > 0 {
		s.Text, _, _ = strings.Cut(s.Text, "\n")
	}
	if got := played(t, new(plant).game(), s, "rules"); got != "" {
		t.Errorf("without the fault got failure %q", got)
	}
}
