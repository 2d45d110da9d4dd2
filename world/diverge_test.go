package world_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

const campShard = `table "camp", shard 0`

// drifts makes a tick depend on more than state and input.
func (g *game) drifts(from uint64) {
	g.fault = func(t world.Tick) error {
		if t.Number == from {
			for _, c := range g.camps.All() {
				c.Born++
				break
			}
		}
		return nil
	}
}

// The follower does not take over.
func TestDiverged_FollowerHalts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := keeping{world.Memory()}
		g, h := newGame(t, store.Options{}), newGame(t, store.Options{})
		h.drifts(9)
		w, v := mustOpen(t, g, l), mustOpen(t, h, l)
		var err error
		for tick := uint64(1); err == nil; tick++ {
			if tick > 9+5+2 {
				t.Fatal("it is not found")
			}
			steps(t, w, 1)
			_, err = v.Step(t.Context())
		}
		var d *world.DivergedError
		failIf(t, !errors.Is(err, world.ErrDiverged) || !errors.As(err, &d) || d.Place != campShard || d.Tick < 9, "Step: %v", err)
		crash(t, w)
		wantError(t, v.Run(within(t, time.Minute)), world.ErrDiverged)
		s := v.Status()
		failIf(t, s.Leader || s.Halted == "", "%v", s)
		mustClose(t, v)
		equal(t, "terms", mustAudit(t, l).Terms, 1)
	})
}

func TestDiverged_LeaderHaltsFollowers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := keeping{world.Memory()}
		g, h, other := newGame(t, store.Options{}), newGame(t, store.Options{}), newGame(t, store.Options{})
		h.drifts(9)
		w, v, u := mustOpen(t, g, l), mustOpen(t, h, l), mustOpen(t, other, l)
		for range 9 {
			stepEach(t, w, v, u)
		}
		crash(t, w)
		time.Sleep(time.Second)
		steps(t, v, 1)
		_, err := u.Step(t.Context())
		d := (*world.DivergedError)(nil)
		failIf(t, !errors.As(err, &d) || d.Place != campShard || d.Tick != 9, "Step: %v", err)
		mustClose(t, u, v)
	})
}

// A flush more changes all digests. It hides no table that differs, and makes no other one suspect.
func TestDiverged_EpochIsCompared(t *testing.T) {
	for want, drift := range map[string]uint64{"flushes with commands, want ": 100, campShard: 9} {
		synctest.Test(t, func(t *testing.T) {
			l := keeping{world.Memory()}
			open := func(drift, more uint64) *world.World {
				g := newGame(t, store.Options{})
				g.drifts(drift)
				return mustOpen(t, g, l, func(o *world.Options) {
					o.Tick = func(ctx context.Context, w *store.Writer, tick world.Tick) error {
						return errors.Join(g.tick(ctx, w, tick), g.Do(ctx, func(q store.Queue) {
							if tick.Number == more { // only adds a flush
								g.hits.Erase(q, g.hits.Emplace(q, hit{}))
							}
						}), errorOf(g.Flush(ctx)))
					}
				})
			}
			w, v := open(100, 100), open(drift, 9)
			steps(t, w, 11)
			var err error
			for err == nil && v.Status().Tick < 11 {
				_, err = v.Step(t.Context())
			}
			d := (*world.DivergedError)(nil)
			failIf(t, !errors.As(err, &d) || !strings.Contains(d.Place, want), "got %v, want %s", err, want)
			crash(t, w)
			mustClose(t, v)
		})
	}
}

// A single digest of another epoch is an error, whatever the others say.
func TestDiverged_EachDigestCounts(t *testing.T) {
	w := mustOpen(t, newGame(t, alone), world.Memory())
	for i := range 2 {
		wantError(t, w.CompareAltered(i), world.ErrDiverged)
	}
	mustClose(t, w)
}

// A changed tick under the same Version is refused, even if DigestTicks are many: after a kill any
// but the last, whose state no record has, and after Close the last one, too.
func TestDiverged_OpenFails(t *testing.T) {
	const ticks = 5
	for _, idle := range []time.Duration{0, 1} {
		for _, kill := range []bool{false, true} {
			for wrong := 1; wrong <= ticks; wrong++ {
				inBubble(t, fmt.Sprintf("Idle %v, killed %t, wrong from tick %d", idle, kill, wrong), func(t *testing.T) {
					open := func(born func(tick uint64) int, l world.Log) (*game, *world.World, error) {
						g := newGame(t, alone)
						o := g.options()
						o.Idle, o.DigestTicks, o.SnapshotTicks = idle, 1000, 1000
						o.Tick = func(_ context.Context, _ *store.Writer, tick world.Tick) error {
							for _, c := range g.camps.All() {
								c.Born += born(tick.Number)
							}
							return nil
						}
						w, err := world.Open(t.Context(), g.Store, l, o)
						return g, w, err
					}
					l := keeping{world.Memory()}
					_, w, err := open(func(uint64) int { return 1 }, l)
					noError(t, err)
					pass(t, w, ticks)
					kept := w.Status().Tick - uint64(w.Status().Unrecorded)
					if kill {
						crash(t, w)
					} else {
						mustClose(t, w)
					}
					equal(t, "snapshots", len(snapshotsOf(t, l)), 1)
					h, v, err := open(func(tick uint64) int { return 1 + int(tick)/wrong }, l)
					failIf(t, errors.Is(err, world.ErrDiverged) != (uint64(wrong) < kept || !kill) || err != nil && !strings.Contains(err.Error(), "the state differs from the leader's; the code changed without Options.Version"), "Open: %v", err)
					if err == nil {
						crash(t, v)
					}
					noError(t, h.Write(t.Context(), func(*store.Writer) {}))
				})
			}
		}
	}
}

func TestShadow_FindsDivergence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w := newWorld(t, store.Options{}, world.Memory(), func(o *world.Options) { o.Shadow = 0.25 })
		ticks := 0
		g.fault = func(world.Tick) error {
			ticks++
			for _, c := range g.camps.All() {
				c.Born = ticks
				break
			}
			return nil
		}
		steps(t, w, 3)
		s := submit(t.Context(), w, g.order(1))
		_, err := w.Step(t.Context())
		synctest.Wait()
		wantError(t, s.err, store.ErrUncertain, world.ErrDiverged)
		d := (*world.DivergedError)(nil)
		failIf(t, !errors.As(err, &d) || d.Place != campShard || ticks != 5, "after %d ticks: %v", ticks, err)
		mustClose(t, w)
	})
}

func TestShadow_RunsFractionOfTicksTwice(t *testing.T) {
	for shadow, want := range map[float64]int{0.25: 50, 0.75: 70, 1: 80} {
		synctest.Test(t, func(t *testing.T) {
			g := newGame(t, store.Options{})
			ticks := 0
			g.fault = func(world.Tick) error {
				ticks++
				return nil
			}
			w := mustOpen(t, g, world.Memory(), func(o *world.Options) { o.Shadow = shadow })
			steps(t, w, 40)
			equal(t, fmt.Sprint("runs with Shadow ", shadow), ticks, want)
			mustClose(t, w)
		})
	}
}

func TestShadow_FailureOfTheFirstRunCounts(t *testing.T) {
	g := newGame(t, store.Options{})
	failing := true
	g.fault = func(world.Tick) error {
		defer func() { failing = false }()
		return map[bool]error{true: errGame}[failing]
	}
	w := mustOpen(t, g, world.Memory(), func(o *world.Options) { o.Shadow = 1 })
	wantError(t, errorOf(w.Step(t.Context())), world.ErrTick)
	mustClose(t, w)
}
