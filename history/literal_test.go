package history_test

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"testing/quick"

	"handloom/history"
	"handloom/store"
	"handloom/world"
)

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

// A kinds is an item that leads to a failure if it names itself.
type kinds struct {
	Scalars scalars
	Of      store.Handle[kinds]
	IDs     [2]store.ID
	_       uint8
}

type kindsGame struct {
	*store.Store
	table *store.Table[kinds]
}

func newKinds(workers int, _ plant) planted {
	s := store.New(store.Options{Workers: workers})
	kept := func(to, from *kinds) { *to = *from } // nothing writes to lists and maps
	return kindsGame{s, store.Register(s, store.TableOptions[kinds]{Name: "kinds", Clone: kept})}
}

func (g kindsGame) truth() *plant { return &plant{} }

func (g kindsGame) game() (*store.Store, world.Options, history.Checks, error) {
	tick := func(ctx context.Context, _ *store.Writer, _ world.Tick) error {
		_, err := g.Flush(ctx)
		return err
	}
	rules := func() error {
		for h, k := range g.table.All() {
			if k.Of == h {
				return fmt.Errorf("%+v", *k)
			}
		}
		return nil
	}
	return g.Store, world.Options{Version: "1", Tick: tick}, history.Checks{"rules": rules}, nil
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
		r := newRecording(t, plant{}, newKinds)
		w, g := r.open(t)
		step(t, w)
		submit(t, w, func(q store.Queue) {
			table := g.(kindsGame).table
			v.Of = table.Emplace(q, kinds{})
			table.Emplace(q, kinds{}) // the script leaves it out
			v.IDs[1] = v.Of.ID
			table.Put(q, v.Of, v)
		})
		r.kill()
		h, err := history.Open(t.Context(), r.dir, r.game(), history.Options{})
		noError(t, err)
		found, err := h.First(t.Context(), "rules", 0, h.Ranges()[0].Last)
		noError(t, err)
		s, err := h.Shortest(t.Context(), "rules", found)
		noError(t, err)
		again, err := h.Shortest(t.Context(), "rules", found)
		if noError(t, err); again.Text != s.Text {
			t.Errorf("got\n%s, then\n%s", s.Text, again.Text)
		}
		id, err := store.ParseID("1:1.1")
		noError(t, err)
		made, err := h.Why(t.Context(), id, "", found.Tick.Number)
		if noError(t, err); made.By.Kind != "create" || made.By.Call != 1 {
			t.Errorf("got %v, want the create of call 1", made)
		}
		want := fmt.Sprintf("check %q after tick %d: %v", "rules", found.Tick.Number, found.Err)
		if got := played(t, r.game(), s); got != want {
			t.Errorf("the script\n%s leads to failure\n%s, want\n%s", s.Text, got, want)
		}
		noError(t, h.Close())
	}
}

func TestPlay_RefusesValues(t *testing.T) {
	for text, want := range map[string]string{
		`{Scalars: {On: {true, false, true}}}`:   `field On: got "true}}}", want 2 elements`,
		`{Scalars: {Text: word}}`:                `field Text: got "word}}", want a string in quotes`,
		`{Scalars: {Texts: "1"}}`:                `field Texts: got "\"1\"}}", want {`,
		`{Scalars: {Counts: {"a" 1}}}`:           `field Counts: got "1}}}", want :`,
		`{Scalars: {Names: {{200}: "a"}}}`:       `field Names: got "200", want a value of type int8`,
		`{Scalars {}}`:                           `got "{}}", want :`,
		`{Scalars: {Lists: {{1, 2}, {x, y, 3}}}`: `field Lists: got "x", want a value of type float32`,
	} {
		v := &verdict{ctx: t.Context()}
		history.Play(v, newRecording(t, plant{}, newKinds).game(), "", "tick 1 seed 0x1 time 2026-11-22T21:03:07Z\ncall create kinds "+text, "rules")
		if !strings.HasPrefix(v.failed, "ends: history: Play: line 2: ") || !strings.Contains(v.failed, want) {
			t.Errorf("%s: got %q, want %q", text, v.failed, want)
		}
	}
}
