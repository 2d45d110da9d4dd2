package history_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"handloom/history"
	"handloom/store"
	"handloom/world"
)

// unseen are the planted faults that lead to states of a right program.
var unseen = []string{"erase by row", "erase all", "unset", "remove"}

// A verdict is a test that notes its failure.
type verdict struct {
	ctx    context.Context
	failed string
}

func (v *verdict) Helper()                           {}
func (v *verdict) Context() context.Context          { return v.ctx }
func (v *verdict) Errorf(format string, args ...any) { v.failed = fmt.Sprintf(format, args...) }
func (v *verdict) Fatalf(format string, args ...any) {
	v.failed = "ends: " + fmt.Sprintf(format, args...)
}

// played returns the failure of a script, or "".
func played(t *testing.T, g history.Game, s *history.Script) string {
	t.Helper()
	file := ""
	if s.State != nil {
		file = filepath.Join(t.TempDir(), "state")
		noError(t, os.WriteFile(file, s.State, 0o600))
	}
	v := &verdict{ctx: t.Context()}
	history.Play(v, g, file, s.Text, "rules")
	return v.failed
}

// compareScript wants a script that fails with the fault and not without: in the program, or in
// the calls. It has the calls that make the fault.
func (r *recording) compareScript(t *testing.T, h *history.History, f fault, start func(workers int, p plant) planted) {
	t.Helper()
	ranges := h.Ranges()
	found, err := h.First(t.Context(), "rules", 0, ranges[len(ranges)-1].Last)
	noError(t, err)
	if slices.Contains(unseen, f.name) != (found.Err == nil) {
		t.Errorf("rules after tick %d: %v", found.Tick.Number, found.Err)
	}
	if found.Err == nil {
		return
	}
	s, err := h.Shortest(t.Context(), "rules", found)
	noError(t, err)
	if calls := strings.Count(s.Text, "call"); calls != min(f.calls, 1) || strings.Count(s.Text, "\n") != 1+calls {
		t.Errorf("got %d calls, want %d:\n%s", calls, f.calls, s.Text)
	}
	want := fmt.Sprintf("check %q after tick %d: %v", "rules", found.Tick.Number, found.Err)
	if got := played(t, r.game(), s); got != want {
		t.Errorf("got failure %q, want %q", got, want)
	}
	right := (&recording{start: func(workers int) planted { return start(workers, plant{}) }}).game()
	if f.calls > 0 {
		s.Text, _, _ = strings.Cut(s.Text, "\n")
	}
	if got := played(t, right, s); got != "" {
		t.Errorf("without the fault got failure %q", got)
	}
}

// submit submits a call and plays the tick that takes it.
func submit(t *testing.T, w *world.World, record func(q store.Queue)) {
	t.Helper()
	done := make(chan error)
	go func() {
		_, err := w.Submit(t.Context(), func(q store.Queue) error {
			record(q)
			return nil
		})
		done <- err
	}()
	for {
		select {
		case err := <-done:
			noError(t, err)
			return
		default:
			step(t, w)
			runtime.Gosched() // ticks alone keep the call's goroutine from running, for seconds
		}
	}
}

// A guarded arena has ticks that fail if a wrong team has no bullet of a long life.
type guarded struct{ *arena }

func (g guarded) game() (*store.Store, world.Options, history.Checks, error) {
	s, o, checks, err := g.arena.game()
	tick := o.Tick
	o.Tick = func(ctx context.Context, w *store.Writer, t world.Tick) error {
		if err := tick(ctx, w, t); err != nil || g.teamsAreKept() == nil {
			return err
		}
		for _, b := range g.bullets.All() {
			if b.Life > 900 {
				return nil
			}
		}
		return errors.New("got a wrong team alone")
	}
	return s, o, checks, err
}

// A command stays without which the tick fails, and its create gets the number of its new place.
func TestShortest_KeepsWhatTheTickNeeds(t *testing.T) {
	r := newRecording(t, plant{}, func(workers int, p plant) planted { return guarded{newArena(workers, p)} })
	w, g := r.open(t)
	a := g.(guarded)
	step(t, w) // so that the call is in a later tick, whose script has a state
	submit(t, w, func(q store.Queue) {
		for h := range a.fighters.All() {
			a.fighters.Put(q, h, fighter{Team: 1000})
			break
		}
		a.bullets.Emplace(q, bullet{Life: 7})
		a.bullets.Put(q, a.bullets.Emplace(q, bullet{Life: 8}), bullet{Life: 1000000})
	})
	r.kill()
	h, err := history.Open(t.Context(), r.dir, r.game(), history.Options{})
	noError(t, err)
	defer h.Close()
	found, err := h.First(t.Context(), "rules", 0, h.Ranges()[0].Last)
	noError(t, err)
	s, err := h.Shortest(t.Context(), "rules", found)
	noError(t, err)
	const want = "\tcall create bullet {Life: 8}\n\tand put fighter 1:0.1 {Team: 1000}\n\tand put bullet $1 {Life: 1000000}\n"
	if _, got, _ := strings.Cut(s.Text, "\n"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(s.State) == 0 {
		t.Errorf("the script of tick %d has no state", found.Tick.Number)
	}
	if got := played(t, r.game(), s); !strings.Contains(got, "got team 1000") {
		t.Errorf("got failure %q", got)
	}
}

// Each part of a call that a failure does not need is left out.
func TestShortest_LeavesOutCommands(t *testing.T) {
	r := inArena(t, "none", 50)
	w, g := r.open(t)
	a := g.(*arena)
	var all []store.Handle[fighter]
	for h := range a.fighters.All() {
		all = append(all, h)
	}
	submit(t, w, func(q store.Queue) {
		a.orders.Emplace(q, order{By: all[0], Move: -1})
		a.wounds.Emplace(q, wound{Target: all[1]})
		f := a.fighters.Emplace(q, fighter{Team: 3})
		a.hulls.Set(q, f, hull{Left: -2})
		a.bullets.Emplace(q, bullet{Owner: f, Life: 9})
		a.hulls.Set(q, all[2], hull{Left: 5000, Hit: manyHits})
		a.fighters.Erase(q, f)
	})
	for range 5 {
		step(t, w)
	}
	r.kill()
	h, err := history.Open(t.Context(), r.dir, r.game(), history.Options{})
	noError(t, err)
	defer h.Close()
	found, err := h.First(t.Context(), "rules", 0, h.Ranges()[0].Last)
	noError(t, err)
	s, err := h.Shortest(t.Context(), "rules", found)
	noError(t, err)
	if _, calls, _ := strings.Cut(s.Text, "\n"); calls != "\tcall set fighter.hull 1:2.1 {Left: 5000, Hit: 1000000}\n" {
		t.Errorf("got %s", s.Text)
	}
	const wants = "func TestRules_HoldsAfterTick"
	if got := s.Test("game", "a"); !strings.HasPrefix(got, wants) || !strings.Contains(got, `history.Play(t, game, "a", `+"`\n"+s.Text+"`, \"rules\")") {
		t.Errorf("got %s", got)
	}
	for name, row := range map[string]struct {
		check string
		tick  uint64
		text  string
	}{
		"holds":          {"rules", 10, `history: Shortest: check "rules" holds after tick 10, want a tick after which it fails`},
		"after the log":  {"rules", 9999, "history: tick 9999: the tick is not kept, nearest "},
		"always panics":  {"broken", 10, `history: Shortest: check "broken" fails after tick 0 and before every later tick up to 10`},
		"no such check":  {"none", 10, `got check "none", want one of broken, rules, teams`},
		"the first tick": {"broken", 0, `check "broken" fails after tick 0 `},
	} {
		_, err := h.Shortest(t.Context(), row.check, history.Found{Tick: world.Tick{Number: row.tick}})
		if err == nil || !strings.Contains(err.Error(), row.text) {
			t.Errorf("%s: got error %v, want %q", name, err, row.text)
		}
	}
	later, err := h.Shortest(t.Context(), "rules", history.Found{Tick: world.Tick{Number: found.Tick.Number + 5}})
	if noError(t, err); later.Text != s.Text {
		t.Errorf("from a later tick got\n%s, want\n%s", later.Text, s.Text)
	}
}

// A tick of a script has the number, the seed and the time of its line.
func TestPlay_PinsTicks(t *testing.T) {
	var got world.Tick
	var seen []world.Tick
	game := history.Game{New: func(workers int) (*store.Store, world.Options, history.Checks, error) {
		s, o, checks, err := newArena(workers, plant{}).game()
		tick := o.Tick
		o.Tick = func(ctx context.Context, w *store.Writer, t world.Tick) error {
			got = t
			return tick(ctx, w, t)
		}
		checks["seen"] = func() error {
			seen = append(seen, got)
			return nil
		}
		return s, o, checks, err
	}}
	history.Play(t, game, "", "tick 1 seed 0x9 time 2026-11-22T21:03:07.25Z\ntick 2 seed 7 time 2026-11-22T21:04:00Z", "seen")
	at := func(text string) time.Time {
		at, err := time.Parse(time.RFC3339Nano, text)
		noError(t, err)
		return at
	}
	want := []world.Tick{{}, {Number: 1, Seed: 9, Time: at("2026-11-22T21:03:07.25Z")}, {Number: 2, Seed: 7, Time: at("2026-11-22T21:04:00Z")}}
	if !slices.EqualFunc(seen, want, func(a, b world.Tick) bool {
		return a.Number == b.Number && a.Seed == b.Seed && a.Time.Equal(b.Time)
	}) {
		t.Errorf("got %v, want %v", seen, want)
	}
}

// A script that cannot be played names its line.
func TestPlay_Errors(t *testing.T) {
	const tick = "tick 1 seed 0x1 time 2026-11-22T21:03:07.25Z\n"
	game := (&recording{start: func(workers int) planted { return newArena(workers, plant{}) }}).game()
	file := filepath.Join(t.TempDir(), "state")
	noError(t, os.WriteFile(file, []byte("no state"), 0o600))
	for _, row := range []struct{ file, text, check, want string }{
		{"", tick + "call create bullet {Life: 3, X: -4}\nand put fighter 1:0.1 {Team: 2}", "rules", ""},
		{"", tick + "call create fighter {}\nand create bullet {Owner: $1, Life: 1}\n\ncall erase fighter 1:0.1\ncall set fighter.hull $0 {Left: 1}", "rules", ""},
		{"", tick + "call create fighter {}\nand create bullet {Life: 3}\nand put bullet $2 {Life: -7}", "rules", `check "rules" after tick 1: bullet 2:0.1: got life -8`},
		{"", tick + "call erase 99:1.1\nand erase all bullet", "rules", ""},
		{"", tick + "call put fighter 1:0.1 {Team: 2000}", "rules", `check "rules" after tick 1: fighter 1:0.1: got team 2000`},
		{"", "", "rules", "ends: history: Play: line 1: got no tick"},
		{"", "tick 1 seed x time y", "rules", "line 1: seed: "},
		{"", "tick 1 seed 1 time y", "rules", "line 1: parsing time"},
		{"", "tick one", "rules", `line 1: got tick "one", want NUMBER seed SEED time TIME`},
		{"", tick + tick, "rules", "line 2: got tick 1, want 2"},
		{"", "call create bullet {}", "rules", "line 1: got a call before the first tick"},
		{"", tick + "and create bullet {}", "rules", "line 2: got and without a call before it"},
		{"", tick + "tock", "rules", `line 2: got "tock", want tick, call or and`},
		{"", tick + "call move bullet {}", "rules", `line 2: got command "move", want create, put, erase, set or unset`},
		{"", tick + "call create cannon {}", "rules", `line 2: got table "cannon", want a table of the game`},
		{"", tick + "call set fighter.Hull 1:0.1 {}", "rules", `line 2: got "Hull", want a column or sparse data of table "fighter"`},
		{"", tick + "call create bullet {}\n\nand create bullet {Gold: 1}", "rules", `line 4: bullet: got field "Gold", want one of history_test.bullet`},
		{"", tick + "call create bullet {X: x}", "rules", `line 2: bullet: field X: got "x", want a value of type int`},
		{"", tick + "call create bullet {X: 1", "rules", `line 2: bullet: got "", want , or }`},
		{"", tick + "call create bullet {} {}", "rules", `line 2: got "{}", want the end of the line`},
		{"", tick + "call create bullet {Owner: $2}", "rules", `line 2: bullet: field Owner: got $2, want at most $1: the creates of the call`},
		{"", tick + "call put fighter {}", "rules", `line 2: got "{}", want a handle such as 3:17.2 or $1`},
		{"", tick + "call unset fighter.hull 1:0.1", "rules", "call 1, command 1: got an unset of a column"},
		{"", tick, "none", `ends: history: Play: got check "none", want one of broken, rules, teams`},
		{"", tick, "broken", `ends: history: Play: check "broken" fails before tick 1: `},
		{file, tick, "rules", "ends: history: Play: world: "},
		{file + "s", tick, "rules", "no such file"},
	} {
		v := &verdict{ctx: t.Context()}
		history.Play(v, game, row.file, row.text, row.check)
		if !strings.Contains(v.failed, row.want) || (row.want == "") != (v.failed == "") {
			t.Errorf("%q: got %q, want %q", row.text, v.failed, row.want)
		}
	}
	// A state of other tables.
	r := inArena(t, "put", 100)
	h, err := history.Open(t.Context(), r.dir, r.game(), history.Options{})
	noError(t, err)
	defer h.Close()
	s, err := h.Shortest(t.Context(), "rules", history.Found{Tick: world.Tick{Number: 60}})
	noError(t, err)
	ants := (&recording{start: func(workers int) planted { return newColony(workers, plant{}) }}).game()
	if got := played(t, ants, s); !strings.Contains(got, "ends: history: Play: world: ") || !strings.Contains(got, "tables differ") {
		t.Errorf("got %q", got)
	}
	game.New = func(int) (*store.Store, world.Options, history.Checks, error) {
		return nil, world.Options{}, nil, os.ErrPermission
	}
	if got := played(t, game, s); got != "ends: history: Play: Game.New: permission denied" {
		t.Errorf("got %q", got)
	}
}
