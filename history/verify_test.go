package history

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"handloom/store"
	"handloom/world"
)

// impure adds a number to each note.
func impure(number func(g *herd) uint64) variant {
	return func(g *herd, o *world.Options) {
		o.Tick = func(ctx context.Context, w *store.Writer, t world.Tick) error {
			if err := g.Tick(ctx, w, t); err != nil {
				return err
			}
			for _, n := range g.Notes.All() {
				n.Key += number(g)
			}
			return nil
		}
	}
}

// A program that is not pure is refused, with tick, table and shard.
func TestVerify_RefusesImpurePrograms(t *testing.T) {
	var shared atomic.Uint64
	runs := map[*herd]uint64{}
	for name, number := range map[string]func(g *herd) uint64{
		"clock":                   func(*herd) uint64 { return uint64(time.Now().UnixNano()) },
		"global variable":         func(*herd) uint64 { return shared.Add(1) },
		"variable of the program": func(g *herd) uint64 { runs[g]++; return runs[g] },
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t, 70, true, impure(number))
			_, err := Open(t.Context(), r.dir, replay(impure(number), nil), Options{})
			wantError(t, err, ErrImpure, `: two plays of the tick differ: table "notes", shard `)
		})
	}
	r := record(t, 70, true, failsAt(12), failsAt(12))
	h := mustOpen(t, r.dir, replay(failsAt(12), func(g *herd) Checks {
		return Checks{"begun": func() error { return failIf(g.Entries() > r.entries[11], errGame) }}
	}), Options{})
	r.wantState(t, h, 12)
	s, err := h.Shortest(t.Context(), "begun", 12)
	if noError(t, err); strings.Contains(s.Text, "call") {
		t.Errorf("got the input of a tick that runs without it: %s", s.Text)
	}
}

// An operation that plays a tick several times fails if one of the plays differs.
func TestImpure_EachPlayCounts(t *testing.T) {
	const tick = 33
	r := record(t, 60, true, same)
	past := itemOf(t, "8:0.1")
	plays, differs := 0, 0
	for kind, differ := range map[string]func(ctx context.Context, g *herd) error{
		"state": func(_ context.Context, g *herd) error {
			for _, n := range g.Notes.All() {
				n.Key++
			}
			return nil
		},
		"number of flushes": func(ctx context.Context, g *herd) error {
			return errors.Join(g.Each(ctx, 1, func(_ int, q store.Queue) {
				for h, n := range g.Notes.All() {
					g.Notes.Put(q, h, *n)
				}
			}), second(g.Flush(ctx)))
		},
		"failure": func(context.Context, *herd) error { return errors.New("the roof falls in") },
	} {
		change := func(g *herd, o *world.Options) {
			o.Tick = func(ctx context.Context, w *store.Writer, at world.Tick) error {
				err := g.Tick(ctx, w, at)
				if at.Number != tick {
					return err
				}
				if plays++; plays == differs {
					return errors.Join(err, differ(ctx, g))
				}
				return err
			}
		}
		for op, do := range map[string]func(h *History) error{
			"Why":     func(h *History) error { return second(h.Why(t.Context(), past, "Sum", tick)) },
			"Changes": func(h *History) error { return second(h.Changes(t.Context(), past, "Sum", tick-3, tick+7)) },
			"Open":    func(h *History) error { return h.verify(t.Context(), &h.spans[0], h.spans[0].before(tick)) },
		} {
			all := 0
			for differs = 0; differs <= all; differs++ {
				h := mustOpen(t, r.dir, replay(change, nil), Options{})
				plays = 0
				err := do(h)
				noError(t, h.Close())
				switch {
				case differs == 0:
					noError(t, err)
					all = plays
				case !errors.Is(err, ErrImpure) && !errors.Is(err, world.ErrDiverged) && !errors.Is(err, world.ErrTick):
					t.Errorf("%s: play %d of %d differs in its %s: got error %v", op, differs, all, kind, err)
				}
			}
		}
	}
}

func TestReduce_NoElementOfTheRestCanGo(t *testing.T) {
	all := []int{0, 1, 2, 3, 4}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		var holds [1 << 5]bool
		for i := range holds {
			holds[i] = random.IntN(2) == 0 || i == len(holds)-1
		}
		of := func(some []int) (bool, error) {
			set := 0
			for _, e := range some {
				set |= 1 << e
			}
			return holds[set], nil
		}
		rest, err := reduce(all, of)
		noError(t, err)
		if ok, _ := of(rest); !ok {
			t.Fatalf("seed %d: reduced to %v, which does not hold", seed, rest)
		}
		for i := range rest {
			if ok, _ := of(slices.Delete(slices.Clone(rest), i, i+1)); ok {
				t.Fatalf("seed %d: reduced to %v, where %d can go", seed, rest, rest[i])
			}
		}
	}
}
