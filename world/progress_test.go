package world_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"handloom/store"
	"handloom/world"
)

// A ledger is a world with as much activity as a test wants.
type ledger struct {
	*world.World
	entries *store.Table[string]
	log     *faulty
	busy    func(tick uint64) bool // ticks with commands of their own
	takes   time.Duration          // a tick
	bytes   int                    // appended since the newest snapshot
	gaps    []int                  // bytes between snapshots
	saves   []uint64               // their ticks
}

func openLedger(t *testing.T, l world.Log, change func(o *world.Options)) *ledger {
	t.Helper()
	g := &ledger{log: &faulty{Log: l}, busy: func(uint64) bool { return false }}
	g.log.append = func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
		g.bytes += len(rec)
		return l.Append(ctx, prev, rec)
	}
	s := store.New(store.Options{})
	g.entries = store.Register(s, store.TableOptions[string]{Name: "entry"})
	o := world.Options{
		Version: "ledger", SnapshotTicks: 1000, DigestTicks: 4,
		Tick: func(ctx context.Context, w *store.Writer, tick world.Tick) error {
			time.Sleep(g.takes)
			_, err := s.Flush(ctx)
			if err == nil && g.busy(tick.Number) {
				g.entries.Clear(w)
				err = s.Do(ctx, func(q store.Queue) { g.entries.Emplace(q, fmt.Sprint(tick.Number)) })
			}
			return err
		},
	}
	change(&o)
	w, err := world.Open(t.Context(), s, g.log, o)
	noError(t, err)
	g.World = w
	return g
}

// add submits a call for the next tick.
func (g *ledger) add(t *testing.T, size int) {
	submit(t.Context(), g.World, func(q store.Queue) error {
		g.entries.Emplace(q, string(make([]byte, size)))
		return nil
	})
}

// steps runs ticks one by one and notes those with a snapshot.
func (g *ledger) steps(t *testing.T, n int) {
	t.Helper()
	for range n {
		before := g.Status().SavedTick
		stepsSaving(t, g.World, 1)
		if s := g.Status(); s.SavedTick != before {
			g.saves, g.gaps, g.bytes = append(g.saves, s.SavedTick), append(g.gaps, g.bytes), 0
		}
	}
}

func TestSnapshot_IsDueByActiveTicks(t *testing.T) {
	every := func(n uint64) func(uint64) bool { return func(tick uint64) bool { return tick%n == 0 } }
	for _, c := range []struct {
		name  string
		ticks int // between snapshots
		busy  func(tick uint64) bool
		input int // a call before each n-th tick
		takes time.Duration
		want  []uint64
	}{
		{"idle", 2, every(1000), 1000, 0, []uint64{200, 400}},
		{"commands", 100, every(1), 1000, 0, []uint64{100, 200, 300, 400}},
		{"input", 150, every(1000), 1, 0, []uint64{150, 300, 450}},
		{"both, at times", 50, every(3), 3, 0, []uint64{149, 297, 446}}, // 49 active and 100 idle, or 50 active
		{"long ticks", 1000, every(1000), 1000, time.Second, []uint64{60, 120, 180, 240, 300, 360, 420}},
	} {
		inBubble(t, c.name, func(t *testing.T) {
			j := openJournal(t, t.TempDir())
			g := openLedger(t, j, func(o *world.Options) { o.SnapshotTicks = c.ticks })
			g.busy, g.takes = c.busy, c.takes
			for tick := 1; tick <= 450; tick++ {
				if tick%c.input == 0 {
					g.add(t, 1)
				}
				g.steps(t, 1)
			}
			failIf(t, !slices.Equal(g.saves, c.want), "saves after ticks %d, want %d", g.saves, c.want)
			mustClose(t, g.World)
			noError(t, j.Close())
		})
	}
}

func TestSnapshot_IsDueByBytes(t *testing.T) {
	for _, c := range []struct {
		name                             string
		option, first, call, want, slack int
	}{
		{"option", 10_000, 0, 1_000, 10_000, 1_500},
		{"small state", 0, 0, 100_000, 1 << 20, 110_000},
		{"third of the state", 0, 9 << 20, 500_000, 3 << 20, 500_000},
	} {
		inBubble(t, c.name, func(t *testing.T) {
			j := openJournal(t, t.TempDir())
			g := openLedger(t, j, func(o *world.Options) { o.SnapshotBytes = c.option })
			if c.first > 0 {
				g.add(t, c.first)
				g.steps(t, 1)
			}
			for len(g.saves) < 2 {
				g.add(t, c.call)
				g.steps(t, 1)
			}
			gap := g.gaps[1]
			failIf(t, gap < c.want || gap > c.want+c.slack, "%d bytes between snapshots, want %d, and %d more at most", gap, c.want, c.slack)
			mustClose(t, g.World)
			noError(t, j.Close())
		})
	}
}

// A world that is killed again and again still saves.
func TestSnapshot_RecoveryCountsReplayedTicks(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(o *world.Options)
		input  bool
		want   int
	}{
		{"ticks", func(o *world.Options) { o.SnapshotTicks = 10 }, true, 4},
		{"bytes", func(o *world.Options) { o.SnapshotBytes = 10_000 }, true, 4},
		{"idle ticks", func(o *world.Options) { o.SnapshotTicks = 1 }, false, 0},
	} {
		inBubble(t, c.name, func(t *testing.T) {
			j, saves := openJournal(t, t.TempDir()), 0
			for range 17 {
				g := openLedger(t, j, c.change)
				for range 3 {
					if c.input {
						g.add(t, 800)
					}
					g.steps(t, 1)
				}
				saves += len(g.saves)
				crash(t, g.World)
			}
			failIf(t, saves < c.want || saves > c.want+1, "%d snapshots in 51 ticks, want %d", saves, c.want)
			noError(t, j.Close())
		})
	}
}

func TestClose_SavesUnlessOnlyIdleTicksPassed(t *testing.T) {
	for _, c := range []struct {
		name  string
		ticks int
		busy  uint64
		input bool
		want  bool
	}{
		{"no tick", 0, 0, false, false},
		{"idle ticks", 19, 0, false, false},
		{"many idle ticks", 20, 0, false, true},
		{"input", 1, 0, true, true},
		{"commands", 10, 5, false, true},
	} {
		inBubble(t, c.name, func(t *testing.T) {
			j := openJournal(t, t.TempDir())
			limit := func(o *world.Options) { o.SnapshotTicks = 20 }
			g := openLedger(t, j, limit)
			g.busy = func(tick uint64) bool { return tick == c.busy }
			if c.input {
				g.add(t, 1)
			}
			g.steps(t, c.ticks)
			before := len(snapshotsOf(t, j))
			mustClose(t, g.World)
			equal(t, "saved", len(snapshotsOf(t, j)) > before, c.want)
			again := openLedger(t, j, limit)
			equal(t, "tick after recovery", again.Status().Tick, uint64(c.ticks))
			mustClose(t, again.World)
			equal(t, "saved again", len(snapshotsOf(t, j)) > 2, false)
			noError(t, j.Close())
		})
	}
}
