package nemesis

import (
	"context"
	"time"

	"handloom/cluster/internal/audit"
	"handloom/proof/game"
	"handloom/store"
	"handloom/world"
)

const (
	// Two saves take longer than the 20 s for which a cut off server may keep a reader without news, so
	// the auditor reads each record before it is trimmed.
	snapshotTicks = 500
	digestTicks   = 6
	noteTicks     = 100 // life of a note
)

// calls are requests with the key of a call, answered with its tick.
type calls = world.Requests[uint64, uint64]

// newGame creates a game whose calls leave notes, and the options of its world.
func newGame(workers int, applied func(p audit.TickResult)) (*store.Store, *calls, world.Options) {
	g := game.New(workers, noteTicks)
	c := world.NewRequests[uint64, uint64](g.Store, "calls", 100_000, time.Minute)
	answer := c.Tick(func(w *store.Writer, t world.Tick, key uint64) uint64 {
		g.Notes.Insert(w, game.Note{Key: key})
		return t.Number
	})
	return g.Store, c, world.Options{
		Version: "nemesis 1", Init: g.Init, SnapshotTicks: snapshotTicks, DigestTicks: digestTicks, Portable: true, Hz: hz,
		Tick: func(ctx context.Context, w *store.Writer, t world.Tick) error {
			if err := answer(ctx, w, t); err != nil {
				return err
			}
			return g.Tick(ctx, w, t)
		},
		Applied: func(ctx context.Context, o world.Outcome) {
			if o.Unrecorded {
				return // another leader may run it again
			}
			digest, err := g.Store.Digest(ctx)
			if err != nil {
				panic(err) // impossible outside of a phase
			}
			applied(audit.TickResult{Outcome: o, Digest: digest, Keys: g.Left(o.Number)})
		},
	}
}

// program is the [audit.App].
func program(workers int, applied func(p audit.TickResult)) (*store.Store, world.Options) {
	s, _, o := newGame(workers, applied)
	return s, o
}
