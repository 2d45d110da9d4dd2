package world_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"handloom/internal/entry"
	"handloom/store"
	"handloom/world"
)

const idleTick = time.Second / 60

// newIdle returns a game whose ticks depend on Seed and Time, and a world with idle ticks.
func newIdle(t *testing.T, l world.Log) (*game, *world.World) {
	t.Helper()
	g := newGame(t, alone)
	g.seeded = true
	return g, openIdle(t, g, l)
}

func openIdle(t *testing.T, g *game, l world.Log) *world.World {
	t.Helper()
	return mustOpen(t, g, l, func(o *world.Options) { o.Idle = 0 })
}

// pass runs ticks at their rate.
func pass(t *testing.T, w *world.World, ticks int) {
	t.Helper()
	for range ticks {
		mustStep(t, w)
		time.Sleep(idleTick)
	}
	synctest.Wait()
}

// callAndPass runs a tick with a call.
func callAndPass(t *testing.T, g *game, w *world.World, n int) {
	t.Helper()
	s := submit(t.Context(), w, g.order(n))
	pass(t, w, 1)
	failIf(t, !s.done || s.err != nil, "Submit: done %t, %v", s.done, s.err)
}

func TestIdle_TicksShareRecords(t *testing.T) {
	for name, c := range map[string]struct {
		log     func() world.Log
		idle    time.Duration
		records uint64 // in 600 ticks
	}{
		"a log with a lock":  {func() world.Log { return locked{world.Memory()} }, 0, 10},
		"a shared log":       {world.Memory, 0, 600 / 6},
		"a shared log, 40ms": {world.Memory, 40 * time.Millisecond, 300},
		"each tick":          {world.Memory, 1, 600},
	} {
		inBubble(t, name, func(t *testing.T) {
			g, w := newWorld(t, alone, c.log(), func(o *world.Options) { o.Idle = c.idle })
			pass(t, w, 600)
			s := w.Status()
			failIf(t, s.Tick != 600 || s.Position-1 > c.records || s.Position < c.records*9/10, "%d ticks, %d records, want %d", s.Tick, s.Position-1, c.records)
			seeds := map[uint64]bool{g.seen[0].Seed: true}
			for i, o := range g.seen[1:] {
				failIf(t, seeds[o.Seed], "tick %d has the seed of another tick", o.Number)
				seeds[o.Seed] = true
				if d := o.Time.Sub(g.seen[i].Time); d < idleTick-time.Millisecond || d > idleTick+time.Millisecond {
					t.Fatalf("tick %d is %v after the tick before", o.Number, d)
				}
			}
			failIf(t, s.ClockOff.Abs() > time.Millisecond, "%v", s)
			mustClose(t, w)
		})
	}
}

// Followers, recovery and replays run the same ticks; the digests of records agree.
func TestIdle_TicksAreEqualEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := keeping{world.Memory()}
		g := newGame(t, alone)
		g.seeded = true
		w := mustOpen(t, g, l, func(o *world.Options) { o.Idle, o.Shadow, o.SnapshotTicks = 0, 0.5, 1000 })
		h := newGame(t, alone)
		h.seeded = true
		v := mustOpen(t, h, l, func(o *world.Options) { o.SnapshotTicks = 1000 })
		for n := range 12 {
			callAndPass(t, g, w, n)
			pass(t, w, n)
			if n%4 == 3 {
				time.Sleep(time.Duration(n-5) * 10 * time.Millisecond) // the clock jumps
			}
		}
		callAndPass(t, g, w, 20)
		last := w.Status().Tick
		for v.Status().Tick < last {
			mustStep(t, v)
		}
		wantSame(t, g, h)
		for i, o := range h.seen {
			if want := g.seen[i]; o.Tick != want.Tick || o.Leader || o.Unrecorded {
				t.Fatalf("the follower ran %+v, the leader %+v", o, want)
			}
		}
		equal(t, "ticks of the follower", len(h.seen), len(g.seen))
		step := uint64(1)
		if testing.Short() {
			step = 9
		}
		for upTo := uint64(1); upTo <= last; upTo += step { // also between two records
			r := newGame(t, alone)
			r.seeded = true
			noError(t, world.Replay(t.Context(), r.Store, l, r.options(), upTo))
			wantTicks(t, r, int(upTo))
			wantSame(t, g, r)
		}
		pass(t, w, 3)
		handed := make(chan error, 1)
		go func() { handed <- w.Handoff(t.Context(), "game") }()
		pass(t, v, 3)
		noError(t, <-handed)
		equal(t, "tick of the successor", v.Status().Tick, last+5)
		wantSame(t, g, h)
		mustAudit(t, l)
		crash(t, w, v)
	})
}

func TestIdle_TicksAreInTheLogAfter(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, w *world.World){
		"Close": func(t *testing.T, w *world.World) { mustClose(t, w) },
		"Handoff": func(t *testing.T, w *world.World) {
			noError(t, w.Handoff(t.Context(), "game"))
			crash(t, w)
		},
		"crash": func(t *testing.T, w *world.World) { crash(t, w) },
	} {
		inBubble(t, name, func(t *testing.T) {
			l := locked{keeping{world.Memory()}}
			g, w := newIdle(t, l)
			callAndPass(t, g, w, 1)
			pass(t, w, 30)
			for _, o := range g.seen {
				equal(t, fmt.Sprint("tick ", o.Number, " is unrecorded"), o.Unrecorded, o.Number > 1)
			}
			end(t, w)
			h, v := newIdle(t, l)
			want := uint64(31)
			if name == "crash" {
				want = 1 // the others may run again
			}
			equal(t, "ticks", v.Status().Tick, want)
			wantSame(t, g, h)
			callAndPass(t, h, v, 2)
			mustClose(t, v)
			mustAudit(t, l)
		})
	}
}

// A leader that lost takes its ticks without records back, and agrees with the others.
func TestIdle_LostTicksAreUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, refused := world.Memory(), 0
		g, w := newIdle(t, &faulty{Log: l, append: func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
			at, err := l.Append(ctx, prev, rec)
			if err != nil {
				refused++
			}
			return at, err
		}})
		h, v := newIdle(t, l)
		callAndPass(t, g, w, 1)
		mustStep(t, v)
		pass(t, w, 3)
		equal(t, "ticks of the leader", w.Status().Tick, 4)
		taken := v.Status().Tick
		time.Sleep(time.Second) // the leader stops; its next tick has a record
		pass(t, v, 2)
		failIf(t, !v.Status().Leader || taken != 1, "%v", v.Status())
		lost := submit(t.Context(), w, g.order(2))
		g.digests, g.seen = make(map[uint64]uint64), nil
		kept := callTwice(t, h, v)
		ctx := within(t, 50*time.Millisecond)
		for w.Status().Tick != kept && ctx.Err() == nil {
			_, _ = w.Step(ctx)
		}
		synctest.Wait()
		wantError(t, lost.err, world.ErrNotLeader)
		equal(t, "lost appends", refused, 1) // it does not lead again by the start of its old term
		equal(t, "tick of the leader that lost", w.Status().Tick, kept)
		wantSame(t, g, h)
		failIf(t, len(g.seen) < 4 || !g.seen[0].Replay || g.seen[0].Number != 1 || g.seen[1].Replay, "applied again: %+v", g.seen)
		mustClose(t, w, v)
		mustAudit(t, l)
	})
}

// callTwice runs ticks with calls and returns the last one.
func callTwice(t *testing.T, g *game, w *world.World) uint64 {
	t.Helper()
	callAndPass(t, g, w, 3)
	callAndPass(t, g, w, 4)
	return w.Status().Tick
}

// Records compare the shards of ticks without a record, too: as many as the budget allows, and each
// once in DigestTicks.
func TestIdle_RecordsCompareAllShards(t *testing.T) {
	for _, c := range []struct{ bytes, digestTicks, inTicks int }{{0, 1000, 2}, {100 << 10, 1000, 5}, {1 << 20, 20, 20}, {1 << 20, 4, 4}} {
		inBubble(t, fmt.Sprintf("%d bytes, DigestTicks %d", c.bytes, c.digestTicks), func(t *testing.T) {
			l := keeping{world.Memory()}
			g := newGame(t, alone)
			blocks := store.Register(g.Store, store.TableOptions[[1 << 10]byte]{Name: "block", Shards: 8})
			w := mustOpen(t, g, l, func(o *world.Options) {
				o.Idle, o.DigestTicks, o.SnapshotTicks = 0, c.digestTicks, 2000
				o.Init = func(ctx context.Context, w *store.Writer) error {
					for range 8 * c.bytes >> 10 {
						blocks.Insert(w, [1 << 10]byte{})
					}
					return g.init(ctx, w)
				}
			})
			for n := range 30 {
				pass(t, w, n%11)
				callAndPass(t, g, w, n)
			}
			compared, most, last := make(map[uint16]uint64), uint64(0), w.Status().Position
			_ = l.Read(t.Context(), 0, func(at uint64, rec []byte) error {
				var r entry.Record
				noError(t, r.Decode(rec))
				for _, d := range r.State.Shards {
					most = max(most, r.State.Tick-compared[d.TypeID]-uint64(r.Idle))
					compared[d.TypeID] = r.State.Tick
				}
				failIf(t, c.bytes > 0 && r.Kind == entry.KindTick && r.Idle == 0 && len(r.State.Shards) > 10, "a record compares %d shards", len(r.State.Shards))
				if at == last {
					return io.EOF
				}
				return nil
			})
			equal(t, "compared shards", len(compared), 16)
			failIf(t, most > uint64(c.inTicks), "a shard is not compared for %d ticks, want %d", most, c.inTicks)
			crash(t, w)
		})
	}
}

// A tick that fails before its record gets one: every other World fails at the same tick, and a
// replay shows the state before it. If the log does not answer, the leader halts all the same.
func TestIdle_FailedTickHasARecord(t *testing.T) {
	for name, fault := range map[string]func() error{
		"error": func() error { return errGame },
		"panic": func() error { panic(errGame) },
		"exit":  func() error { runtime.Goexit(); return nil },
	} {
		for _, away := range []bool{false, true} {
			inBubble(t, fmt.Sprint(name, ", the log is away: ", away), func(t *testing.T) {
				l := keeping{world.Memory()}
				f := &faulty{Log: l}
				fault := func(n world.Tick) error {
					if n.Number == 4 {
						return fault()
					}
					return nil
				}
				g, w := newIdle(t, f)
				h, v := newIdle(t, l)
				g.fault, h.fault = fault, fault
				callAndPass(t, g, w, 1)
				pass(t, w, 2)
				mustStep(t, v)
				if away {
					f.append = func(context.Context, uint64, []byte) (uint64, error) { return 0, errLost }
				}
				stepOnce(w)
				wantError(t, errorOf(w.Submit(t.Context(), g.order(1))), world.ErrNotLeader)
				failed := w.Status()
				failIf(t, !strings.Contains(failed.Halted, "tick 4") || failed.Tick != 3, "%v", failed)
				mustClose(t, w)
				end, err := l.Tail(t.Context())
				noError(t, err)
				failIf(t, (end == failed.Position) != away, "the log ends at %d, the World at %d", end, failed.Position)
				if away {
					mustClose(t, v)
					return
				}
				failIf(t, !strings.Contains(failed.Halted, fmt.Sprint("record ", end)), "the log ends at %d: %v", end, failed)
				stepOnce(v)
				equal(t, "tick of the follower", v.Status().Tick, 3)
				failIf(t, v.Status().Halted == "", "%v", v.Status())
				mustClose(t, v)
				again := newGame(t, alone)
				again.seeded, again.fault = true, failsAt(4)
				var e *world.TickError
				_, err = world.Open(t.Context(), again.Store, l, again.options())
				failIf(t, !errors.As(err, &e) || e.Tick != 4 || e.At != end, "Open: %v", err)
				before := newGame(t, alone)
				before.seeded = true
				noError(t, world.Replay(t.Context(), before.Store, l, before.options(), 3))
				wantSame(t, g, before)
				repaired, u := newIdle(t, l)
				equal(t, "ticks of the repaired program", u.Status().Tick, 4)
				mustStep(t, u)
				wantSame(t, g, repaired)
				mustClose(t, u)
				mustAudit(t, l)
			})
		}
	}
}

// stepOnce runs a tick that may end its goroutine.
func stepOnce(w *world.World) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = w.Step(context.Background())
	}()
	<-ended
}

func failsAt(tick uint64) func(n world.Tick) error {
	return func(n world.Tick) error {
		if n.Number == tick {
			return errGame
		}
		return nil
	}
}

func TestIdle_SkipInputCountsTicksBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := locked{keeping{world.Memory()}}
		g, w := newIdle(t, l)
		pass(t, w, 5)
		tick := w.Status().Tick + 1
		g.fault = failsAt(tick)
		s := submit(t.Context(), w, g.order(1))
		wantError(t, errorOf(w.Step(t.Context())), errGame)
		synctest.Wait()
		wantError(t, s.err, world.ErrTick)
		crash(t, w)
		failIf(t, world.SkipInput(t.Context(), l, tick-1) == nil, "SkipInput of a tick without a record of its own succeeds")
		noError(t, world.SkipInput(t.Context(), l, tick))
		h := newGame(t, alone)
		h.seeded, h.fault = true, func(n world.Tick) error {
			if h.orders.Len() > 0 {
				return errGame
			}
			return nil
		}
		v := openIdle(t, h, l)
		equal(t, "tick", v.Status().Tick, tick)
		mustClose(t, v)
	})
}

// An export between two records is a snapshot of a log that ends there or has its ticks. Other
// logs skip it.
func TestIdle_ExportKeepsTicks(t *testing.T) {
	for name, end := range map[string]int{"the log ends there": 0, "the log has the ticks": 1, "another leader": 2} {
		inBubble(t, name, func(t *testing.T) {
			l := locked{keeping{world.Memory()}}
			g := newGame(t, alone)
			g.seeded = true
			w := mustOpen(t, g, l, func(o *world.Options) { o.Idle, o.SnapshotTicks = 0, 1000 })
			callAndPass(t, g, w, 1)
			pass(t, w, 3)
			var exported bytes.Buffer
			noError(t, w.Export(t.Context(), &exported))
			at := w.Status().Position
			if end == 1 {
				callAndPass(t, g, w, 2)
			}
			crash(t, w)
			if end == 2 {
				_, other := newIdle(t, l)
				crash(t, other)
			}
			noError(t, l.Save(t.Context(), at, func(dst io.Writer) error {
				_, err := dst.Write(exported.Bytes())
				return err
			}))
			h, v := newIdle(t, l)
			s := v.Status()
			equal(t, "tick", s.Tick, []uint64{4, 5, 1}[end])
			equal(t, "bad snapshots", s.BadSnapshots, max(0, end-1))
			wantSame(t, g, h)
			callAndPass(t, h, v, 3)
			mustClose(t, v)
			mustAudit(t, l)
		})
	}
}

// A clock that was set back slows the time of ticks, so each has a record.
func TestIdle_ClockThatWasSetBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	for _, c := range []struct{ clock, least time.Duration }{{time.Hour, 0}, {0, idleTick / 2}, {2 * time.Hour, idleTick}} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(c.clock)
			j := openJournal(t, dir)
			g, w := newIdle(t, j)
			first := len(g.seen)
			before := w.Status().Position
			pass(t, w, 120)
			seen := g.seen[first:]
			passed, records := seen[119].Time.Sub(seen[0].Time), w.Status().Position-before
			if c.least > 0 {
				failIf(t, passed < 118*c.least || passed > 119*c.least*3/2, "clock %v: 119 ticks take %v", c.clock, passed)
				failIf(t, (records > 100) != (c.clock == 0), "clock %v: %d records", c.clock, records)
			}
			crash(t, w)
			noError(t, j.Close())
		})
	}
}

// The clock begins at the year 2000 plus later.
func clockBy(t *testing.T, dir string, later time.Duration, n int) (seen []world.Outcome, status world.Status) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(later)
		j := openJournal(t, dir)
		g, w := newWorld(t, alone, j)
		if replayed := len(g.seen); replayed > 0 {
			g.seen = g.seen[replayed-1:]
		}
		for range n {
			steps(t, w, 1)
			time.Sleep(time.Second / 60)
		}
		seen, status = g.seen, w.Status()
		crash(t, w)
	})
	return seen, status
}

// After a jump ahead, ticks are at most 1.5 times as far apart as normal; after a jump back,
// half as far.
func TestTickTime_FollowsAClockThatJumps(t *testing.T) {
	const tick = time.Second / 60
	dir := filepath.Join(t.TempDir(), "log")
	clockBy(t, dir, time.Hour, 10)
	for _, c := range []struct {
		name        string
		clock       time.Duration
		least, most time.Duration // between two ticks
	}{
		{"ahead by a year", 365 * 24 * time.Hour, tick, tick * 3 / 2},
		{"back by an hour and more", 0, tick / 2, tick / 2},
		{"ahead by a day", 24 * time.Hour, tick, tick * 3 / 2},
	} {
		seen, status := clockBy(t, dir, c.clock, 60)
		for i, o := range seen[1:] {
			if d := o.Time.Sub(seen[i].Time); d < c.least || d > c.most {
				t.Fatalf("%s: tick %d is %v after the tick before, want %v to %v", c.name, o.Number, d, c.least, c.most)
			}
		}
		if off := status.ClockOff; (off > 0) != (c.least == tick) || off.Abs() < 50*time.Minute {
			t.Errorf("%s: ClockOff is %v", c.name, off)
		}
		failIf(t, !strings.Contains(status.String(), "off the time of ticks"), "%s: %v", c.name, status)
	}
}

func TestTickTime_ReturnsToTheClock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	clockBy(t, dir, time.Minute, 10)
	for _, clock := range []time.Duration{61 * time.Second, 64 * time.Second, 69 * time.Second} { // ahead, back, ahead by a second
		seen, status := clockBy(t, dir, clock, 4*60)
		last, tick := seen[len(seen)-1].Time, seen[len(seen)-2].Time
		equal(t, fmt.Sprint("ClockOff 4 s after a clock of ", clock), status.ClockOff, 0)
		equal(t, "last tick", last.Sub(tick), time.Second/60)
	}
}
