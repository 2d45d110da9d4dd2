package nemesis

import (
	"context"

	"handloom/cluster/internal/audit"
	"handloom/proof/game"
	"handloom/store"
	"handloom/world"
)

const (
	snapshotTicks = 250 // the auditor reads records before they are trimmed
	digestTicks   = 6
	noteTicks     = 100 // life of a note
)

// newGame creates a game whose calls leave notes, and the options of its world.
func newGame(workers int, applied func(p audit.TickResult)) (*game.Game, world.Options) {
	g := game.New(workers, noteTicks)
	return g, world.Options{
		Version: "nemesis 1", Init: g.Init, Tick: g.Tick, SnapshotTicks: snapshotTicks, DigestTicks: digestTicks, Portable: true, Hz: hz,
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
func program(workers int, applied func(p audit.TickResult)) (*store.Store, world.Options, error) {
	g, o := newGame(workers, applied)
	return g.Store, o, nil
}
