//go:build unix

package nemesis

import (
	"context"

	"handloom/cluster/internal/audit"
	"handloom/proof/game"
	"handloom/store"
	"handloom/world"
)

const (
	snapshotTicks = 150 // long enough for the auditor to have read what they let the log trim
	digestTicks   = 6
	noteTicks     = 100 // for which a note is kept
)

func newGame(workers int) (*game.Game, error) { return game.New(workers, noteTicks) }

// options are those of every world of the game.
func options(g *game.Game, hz int, applied func(p audit.Played)) world.Options {
	return world.Options{
		Program: "nemesis 1", Hz: hz, Init: g.Init, Tick: g.Tick, SnapshotTicks: snapshotTicks, DigestTicks: digestTicks, Portable: true,
		Applied: func(ctx context.Context, o world.Outcome) { applied(played(ctx, g, o)) },
	}
}

// program is the game for an auditor.
func program(hz int) audit.Program {
	return func(workers int, applied func(p audit.Played)) (*store.Store, world.Options, error) {
		g, err := newGame(workers)
		if err != nil {
			return nil, world.Options{}, err
		}
		return g.Store, options(g, hz, applied), nil
	}
}

// played is what a tick came to.
func played(ctx context.Context, g *game.Game, o world.Outcome) audit.Played {
	digest, err := g.Digest(ctx)
	if err != nil {
		panic(err) // no phase is under way
	}
	return audit.Played{Outcome: o, Digest: digest, Keys: g.Left(o.Number)}
}
