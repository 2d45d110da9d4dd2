package history

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"handloom/proof/game"
	"handloom/store"
	"handloom/world"
)

// fewEntries is an upper limit of the entries of a good state.
const fewEntries = 120_000

func failIf(fails bool, err error) error {
	if fails {
		return err
	}
	return nil
}

func checks(g *game.Game) Checks {
	return Checks{
		"even":  func() error { return failIf(g.Entries()%11 == 0, errGame) },
		"few":   func() error { return failIf(g.Entries() > fewEntries, errGame) },
		"holds": func() error { return nil },
		"panics": func() error {
			if g.Entries() > fewEntries {
				panic("too many")
			}
			return nil
		},
	}
}

// firstOf returns the first tick after which the recording fails a check, or 0.
func (r *recording) firstOf(from, to uint64, fails func(entries uint64) bool) uint64 {
	for tick := from; tick <= to; tick++ {
		if fails(r.entries[tick]) {
			return tick
		}
	}
	return 0
}

// First equals the first failure of the world's own states, and Turn a turn of them.
func TestFirst_EqualsTheStatesOfTheWorld(t *testing.T) {
	ctx := t.Context()
	r := record(t, 200, true, same)
	few := func(n uint64) bool { return n > fewEntries }
	even := func(n uint64) bool { return n%11 == 0 }
	if turn := r.firstOf(1, 200, few); turn < 30 || turn > 170 {
		t.Fatalf("the check turns at tick %d, want one in the middle", turn)
	}
	rounds, step, most := 12, uint64(1), []int{1, 3}
	if testing.Short() {
		rounds, step, most = 2, 50, most[1:]
	}
	for _, stores := range most {
		t.Run(fmt.Sprint("stores=", stores), func(t *testing.T) {
			h := mustOpen(t, r.dir, replay(same, checks), Options{Stores: stores})
			random := rand.New(rand.NewPCG(1, 1))
			for range rounds {
				from := 1 + random.Uint64N(r.last)
				to := from + random.Uint64N(r.last-from+1)
				for _, c := range []struct {
					name  string
					fails func(n uint64) bool
				}{{"few", few}, {"even", even}} {
					want := r.firstOf(from, to, c.fails)
					tick, failed, err := h.First(ctx, c.name, from, to)
					noError(t, err)
					if tick != r.ticks[want] || want > 0 && failed != errGame || want == 0 && failed != nil {
						t.Fatalf("First of %q in %d to %d: %+v, %v, want tick %d", c.name, from, to, tick, failed, want)
					}
					tick, failed, err = h.Turn(ctx, c.name, from, to)
					noError(t, err)
					at := tick.Number
					switch {
					case c.name == "few" && at != want,
						failed == nil && (at != 0 || c.fails(r.entries[to])),
						failed != nil && (!c.fails(r.entries[at]) || at > from && c.fails(r.entries[at-1])):
						t.Fatalf("Turn of %q in %d to %d: %d, %v, want %d if monotone", c.name, from, to, at, failed, want)
					}
				}
			}
			for to := r.firstOf(1, r.last, few) - 1; to <= r.last; to += step {
				tick, _, err := h.Turn(ctx, "few", 1+random.Uint64N(20), to)
				if want := r.firstOf(1, to, few); err != nil || tick.Number != want {
					t.Fatalf("Turn up to %d: %+v, %v, want tick %d", to, tick, err, want)
				}
			}
			for _, find := range []func(context.Context, string, uint64, uint64) (world.Tick, error, error){h.First, h.Turn} {
				tick, failed, err := find(ctx, "panics", 1, r.last)
				noError(t, err)
				p, ok := errors.AsType[*store.PanicError](failed)
				if !ok || p.Value != "too many" || len(p.Stack) == 0 || tick != r.ticks[r.firstOf(1, r.last, few)] {
					t.Errorf("a check that panics: %+v, %v", tick, failed)
				}
			}
			tick, failed, err := h.First(ctx, "holds", 0, r.last)
			if err != nil || failed != nil || tick != (world.Tick{}) {
				t.Errorf("First of a check that holds: %+v, %v, %v", tick, failed, err)
			}
		})
	}
}

// Check finds a difference of any tick before the last ones, also one just before a snapshot.
func TestCheck_FindsADifferenceOfEachTick(t *testing.T) {
	r := record(t, 70, true, same)
	first, last := uint64(30), uint64(64)
	if testing.Short() {
		first, last = 40, 41
	}
	for tick := first; tick <= last; tick++ {
		alters := func(g *herd, o *world.Options) {
			o.Tick = func(ctx context.Context, w *store.Writer, at world.Tick) error {
				err := g.Tick(ctx, w, at)
				for _, n := range g.Notes.All() {
					if at.Number == tick {
						n.Key++
					}
				}
				return err
			}
		}
		execute(t, replay(alters, nil), "check "+r.dir).want(t, exitFound, "verdict: differs")
	}
}
