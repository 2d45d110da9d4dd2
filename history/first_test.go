package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"handloom/proof/game"
	"handloom/store"
	"handloom/world"
)

var (
	errOdd   = errors.New("an odd number of entries")
	errGrown = errors.New("too many entries")
)

// fewEntries is an upper limit of the entries of a good state.
const fewEntries = 120_000

func checks(g *game.Game) Checks {
	fail := func(fails bool, err error) error {
		if fails {
			return err
		}
		return nil
	}
	return Checks{
		"even":  func() error { return fail(g.Entries()%11 == 0, errOdd) },
		"few":   func() error { return fail(g.Entries() > fewEntries, errGrown) },
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
					want  error
				}{{"few", few, errGrown}, {"even", even, errOdd}} {
					want := r.firstOf(from, to, c.fails)
					found, err := h.First(ctx, c.name, from, to)
					noError(t, err)
					if found.Tick != r.ticks[want] || want > 0 && found.Err != c.want || want == 0 && found.Err != nil {
						t.Fatalf("First of %q in %d to %d: %+v, want tick %d", c.name, from, to, found, want)
					}
					turn, err := h.Turn(ctx, c.name, from, to)
					noError(t, err)
					at := turn.Tick.Number
					switch {
					case c.name == "few" && at != want,
						turn.Err == nil && (at != 0 || c.fails(r.entries[to])),
						turn.Err != nil && (!c.fails(r.entries[at]) || at > from && c.fails(r.entries[at-1])):
						t.Fatalf("Turn of %q in %d to %d: %+v, want %d if monotone", c.name, from, to, turn, want)
					}
				}
			}
			for to := r.firstOf(1, r.last, few) - 1; to <= r.last; to += step {
				turn, err := h.Turn(ctx, "few", 1+random.Uint64N(20), to)
				if want := r.firstOf(1, to, few); err != nil || turn.Tick.Number != want {
					t.Fatalf("Turn up to %d: %+v, %v, want tick %d", to, turn, err, want)
				}
			}
			found, err := h.First(ctx, "holds", 0, r.last)
			if err != nil || found != (Found{}) {
				t.Errorf("First of a check that holds: %+v, %v", found, err)
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
		var stdout, stderr bytes.Buffer
		if exit := run(t.Context(), replay(alters, nil), []string{"check", r.dir}, &stdout, &stderr); exit != exitFound {
			t.Errorf("tick %d: got exit code %d, want %d: %s%s", tick, exit, exitFound, &stdout, &stderr)
		}
	}
}

func TestFirst_ErrorsNameCheckAndTicks(t *testing.T) {
	ctx := t.Context()
	r := record(t, 100, true, failsAt(81))
	h := mustOpen(t, r.dir, replay(failsAt(81), checks), Options{Stores: 2})
	for name, find := range map[string]func(name string, from, to uint64) (Found, error){
		"First": func(name string, from, to uint64) (Found, error) { return h.First(ctx, name, from, to) },
		"Turn":  func(name string, from, to uint64) (Found, error) { return h.Turn(ctx, name, from, to) },
	} {
		t.Run(name, func(t *testing.T) {
			found, err := find("panics", 1, 80)
			noError(t, err)
			var p *store.PanicError
			if !errors.As(found.Err, &p) || p.Value != "too many" || len(p.Stack) == 0 || !found.Tick.Time.Equal(r.ticks[found.Tick.Number].Time) {
				t.Errorf("a check that panics: %+v", found)
			}
			_, err = find("gold", 1, 80)
			wantError(t, err, err, "history: "+name+`: got check "gold", want one of even, few, holds, panics`)
			_, err = find("few", 3, 2)
			wantError(t, err, err, "history: "+name+": got ticks 3 to 2, want the first not after the last")
			_, err = find("few", 1, 500)
			wantError(t, err, ErrRange, "history: tick 82: the tick is not kept, nearest 81")
			_, err = find("holds", 1, 81)
			wantError(t, err, world.ErrTick, "tick 81 ")
		})
	}
}
