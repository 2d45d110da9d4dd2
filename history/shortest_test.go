package history

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"handloom/store"
	"handloom/world"
)

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
func played(t *testing.T, g Game, s *Script, check string) string {
	t.Helper()
	file := ""
	if len(s.State) > 0 {
		file = filepath.Join(t.TempDir(), "state")
		noError(t, os.WriteFile(file, s.State, 0o600))
	}
	v := &verdict{ctx: t.Context()}
	Play(v, g, file, s.Text, check)
	return v.failed
}

// shortest returns a script that breaks the rules, its first tick, and the failure of Play.
func (m *match) shortest(t *testing.T, h *History) (s *Script, tick uint64, failure string) {
	t.Helper()
	at, failed, err := h.First(t.Context(), "rules", 0, h.Ranges()[0].Last)
	noError(t, err)
	if failed == nil {
		return nil, 0, ""
	}
	s, err = h.Shortest(t.Context(), "rules", at.Number)
	noError(t, err)
	return s, at.Number, fmt.Sprintf("check %q after tick %d: %v", "rules", at.Number, failed)
}

// A command stays without which the tick fails, and its create gets the number of its new place.
func TestShortest_KeepsWhatTheTickNeeds(t *testing.T) {
	m := newMatch(t, plant{name: "guarded"})
	m.play(t, 1, func(t *testing.T, w *world.World, a *arena) { // a script of tick 2 has a state
		submit(t, w, func(q store.Queue) {
			h, _ := head(a.fighters.All())
			a.fighters.Put(q, h, fighter{Team: 1000})
		}, func(q store.Queue) {
			a.bullets.Emplace(q, bullet{Life: 7})
			a.bullets.Put(q, a.bullets.Emplace(q, bullet{Life: 8}), bullet{Life: 1000000})
		})
	})
	s, tick, _ := m.shortest(t, mustOpen(t, m.dir, m.game(), Options{}))
	const want = "\tcall put fighter 1:0.1 {Team: 1000}\n\tcall create bullet {Life: 8}\n\tand put bullet $1 {Life: 1000000}\n"
	if _, got, _ := strings.Cut(s.Text, "\n"); got != want || len(s.State) == 0 {
		t.Errorf("got %s of tick %d with %d bytes of state, want %s with a state", got, tick, len(s.State), want)
	}
	if got := played(t, m.game(), s, "rules"); !strings.Contains(got, "got team 1000") {
		t.Errorf("got failure %q", got)
	}
}

// Each part of a call that a failure does not need is left out.
func TestShortest_LeavesOutCommands(t *testing.T) {
	m := newMatch(t, plant{})
	m.play(t, 50, func(t *testing.T, w *world.World, a *arena) {
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
	})
	m.play(t, 56, nil)
	h := mustOpen(t, m.dir, m.game(), Options{})
	s, tick, _ := m.shortest(t, h)
	if _, calls, _ := strings.Cut(s.Text, "\n"); calls != "\tcall set fighter.hull 1:2.1 {Left: 5000, Hit: 1000000}\n" {
		t.Errorf("got %s", s.Text)
	}
	if got, want := s.test("game", "a"), "func TestRules_HoldsAfterTick51(t *testing.T) {\n\thistory.Play(t, game, \"a\", `\n"+s.Text+"`, \"rules\")"; !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := quoteName("fighter") + quoteName("a b") + quoteName("all"); got != `fighter"a b""all"` {
		t.Errorf("got names %s", got)
	}
	later, err := h.Shortest(t.Context(), "rules", tick+5)
	if noError(t, err); later.Text != s.Text {
		t.Errorf("from a later tick got\n%s, want\n%s", later.Text, s.Text)
	}
	for _, c := range []struct {
		check string
		tick  uint64
		text  string
	}{
		{"rules", 10, `history: Shortest: check "rules" holds after tick 10, want a tick after which it fails`},
		{"rules", 9999, "history: tick 9999: the tick is not kept, nearest "},
		{"broken", 10, `history: Shortest: check "broken" fails after tick 0 and before every later tick up to 10`},
		{"none", 10, `history: Shortest: got check "none", want one of broken, rules, teams`},
		{"broken", 0, `check "broken" fails after tick 0 `},
	} {
		wantError(t, second(h.Shortest(t.Context(), c.check, c.tick)), nil, c.text)
	}
}

// A tick of a script has the number, the seed and the time of its line.
func TestPlay_PinsTicks(t *testing.T) {
	var got []string
	g := beforeTicks(new(plant).game(), func(at world.Tick) {
		got = append(got, fmt.Sprintf("%d %d %s", at.Number, at.Seed, at.Time.Format(time.RFC3339Nano)))
	})
	Play(t, g, "", "tick 1 seed 0x9 time 2026-11-22T21:03:07.25Z\ntick 2 seed 7 time 2026-11-22T21:04:00Z", "rules")
	if want := []string{"1 9 2026-11-22T21:03:07.25Z", "2 7 2026-11-22T21:04:00Z"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A script that cannot be played names its line.
func TestPlay_Errors(t *testing.T) {
	const tick = "tick 1 seed 0x1 time 2026-11-22T21:03:07.25Z\n"
	for _, c := range []struct{ state, text, check, want string }{
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
		{"", tick + "call create {}", "rules", `line 2: got "{}", want a string in quotes`},
		{"", tick + "call set fighter 1:0.1", "rules", `line 2: got "1:0.1", want . and a column or sparse data`},
		{"", tick + "call set fighter.Hull 1:0.1 {}", "rules", `line 2: got "Hull", want a column or sparse data of table "fighter"`},
		{"", tick + "call create bullet {}\n\nand create bullet {Gold: 1}", "rules", `line 4: bullet: got field "Gold", want one of history.bullet`},
		{"", tick + "call create bullet {X: x}", "rules", `line 2: bullet: field X: got "x", want a value of type int`},
		{"", tick + "call create bullet {X: 1", "rules", `line 2: bullet: got "", want , or }`},
		{"", tick + "call create bullet {} {}", "rules", `line 2: got "{}", want the end of the line`},
		{"", tick + "call erase fighter 1:0.1 {}", "rules", `line 2: got "{}", want the end of the line`},
		{"", tick + "call create bullet {Owner: $2}", "rules", `line 2: bullet: field Owner: got $2, want at most $1: the creates of the call`},
		{"", tick + "call put fighter {}", "rules", `line 2: got "{}", want a handle such as 3:17.2 or $1`},
		{"", tick + "call unset fighter.hull 1:0.1", "rules", "call 1, command 1: got an unset of a column"},
		{"", tick + `call create kinds {Scalars: {On: {true, false, true}}}`, "rules", `line 2: kinds: field Scalars: field On: got "true}}}", want 2 elements`},
		{"", tick + `call create kinds {Scalars: {Text: word}}`, "rules", `field Text: got "word}}", want a string in quotes`},
		{"", tick + `call create kinds {Scalars: {Texts: "1"}}`, "rules", `field Texts: got "\"1\"}}", want {`},
		{"", tick + `call create kinds {Scalars: {Counts: {"a" 1}}}`, "rules", `field Counts: got "1}}}", want :`},
		{"", tick + `call create kinds {Scalars: {Names: {{200}: "a"}}}`, "rules", `field Names: got "200", want a value of type int8`},
		{"", tick + `call create kinds {Scalars {}}`, "rules", `line 2: kinds: got "{}}", want :`},
		{"", tick + `call create kinds {Scalars: {Lists: {{1, 2}, {x, y, 3}}}`, "rules", `field Lists: got "x", want a value of type float32`},
		{"", tick, "none", `ends: history: Play: got check "none", want one of broken, rules, teams`},
		{"", tick, "broken", `ends: history: Play: check "broken" fails before tick 1: `},
		{"no state", tick, "rules", "ends: history: Play: world: "},
	} {
		s := &Script{Text: c.text, State: []byte(c.state)}
		if got := played(t, new(plant).game(), s, c.check); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
	// A state of other tables.
	m := inArena(t, "put", 70)
	s, _, _ := m.shortest(t, mustOpen(t, m.dir, m.game(), Options{}))
	if got := played(t, replay(same, checks), s, "holds"); !strings.Contains(got, "ends: history: Play: world: ") || !strings.Contains(got, "tables differ") {
		t.Errorf("got %q", got)
	}
	v := &verdict{ctx: t.Context()}
	if Play(v, m.game(), "none", tick, "rules"); !strings.Contains(v.failed, "ends: history: Play: open none: ") {
		t.Errorf("got %q", v.failed)
	}
	refused := Game{New: func(int) (*store.Store, world.Options, Checks, error) {
		return nil, world.Options{}, nil, os.ErrPermission
	}}
	if got := played(t, refused, s, "rules"); got != "ends: history: Play: Game.New: permission denied" {
		t.Errorf("got %q", got)
	}
}

// scalars has a field of each kind that an item may have, except handles.
type scalars struct {
	On     [2]bool
	I      int
	I8     int8
	U64    uint64
	F32    float32
	F64    float64
	C64    complex64
	C128   complex128
	Text   string
	Pair   [2]struct{ A, B uint16 }
	Texts  []string
	Lists  [][]float32
	Counts map[string]int16
	Names  map[[2]int8]string
}

// A kinds is an item that breaks the rules if it names itself.
type kinds struct {
	Scalars scalars
	Of      store.Handle[kinds]
	IDs     [2]store.ID
	_       uint8
}

// A script has the values of a call, whatever their types are.
func TestShortest_WritesValuesOfEveryKind(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	values := []kinds{
		{Scalars: scalars{F64: math.Copysign(0, -1), F32: float32(math.Inf(-1)), C128: complex(math.Inf(1), math.NaN())}},
		{Scalars: scalars{Text: "`\"\n\t\xff, {}: ", Texts: []string{"", "and call"}, Lists: [][]float32{nil, {1, float32(math.NaN())}}}},
		{Scalars: scalars{U64: math.MaxUint64, I: math.MinInt, Names: map[[2]int8]string{{-1}: ":", {1, -128}: "}"}}},
	}
	for range 5 {
		v, _ := quick.Value(reflect.TypeFor[scalars](), random)
		values = append(values, kinds{Scalars: v.Interface().(scalars)})
	}
	for _, v := range values {
		m := newMatch(t, plant{})
		m.play(t, 1, func(t *testing.T, w *world.World, a *arena) {
			submit(t, w, func(q store.Queue) {
				v.Of = a.kinds.Emplace(q, kinds{})
				a.kinds.Emplace(q, kinds{}) // the script leaves it out
				v.IDs[1] = v.Of.ID
				a.kinds.Put(q, v.Of, v)
			})
		})
		h := mustOpen(t, m.dir, m.game(), Options{})
		s, tick, want := m.shortest(t, h)
		again, err := h.Shortest(t.Context(), "rules", tick)
		if noError(t, err); again.Text != s.Text {
			t.Errorf("got\n%s, then\n%s", s.Text, again.Text)
		}
		made, err := h.Why(t.Context(), itemOf(t, "7:1.1"), "", tick)
		if noError(t, err); made.By.Kind != "create" || made.By.Call != 1 || !strings.HasPrefix(made.String(), "tick 2, 7:1.1: nothing -> {") {
			t.Errorf("got %v, want the create of call 1", made)
		}
		if got := played(t, m.game(), s, "rules"); got != want {
			t.Errorf("the script\n%s leads to failure\n%s, want\n%s", s.Text, got, want)
		}
	}
}
