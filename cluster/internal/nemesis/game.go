package nemesis

import (
	"context"

	"handloom/cluster/internal/audit"
	"handloom/proof/game"
	"handloom/store"
	"handloom/world"
)

// A Game is the program of all nodes and the calls of clients.
type Game struct {
	Store *store.Store
	World world.Options // without Hz and Applied

	// Call returns the call for a key and a client's text.
	Call func(key uint64, text string) (func(q store.Queue) error, error)

	// Keys returns the keys of a tick's calls.
	Keys func(tick uint64) []uint64

	// View returns a copy of the state for [Run.View]. May be nil.
	View func() any
}

// NewGame creates a game.
type NewGame func(workers int) (*Game, error)

const (
	snapshotTicks = 250 // the auditor reads records before they are trimmed
	digestTicks   = 6
	noteTicks     = 100 // life of a note
)

// Notes creates a [Game] whose calls leave notes.
func Notes(workers int) (*Game, error) {
	g := game.New(workers, noteTicks)
	return &Game{
		Store: g.Store,
		World: world.Options{Version: "nemesis 1", Init: g.Init, Tick: g.Tick, SnapshotTicks: snapshotTicks, DigestTicks: digestTicks, Portable: true},
		Call:  func(key uint64, _ string) (func(q store.Queue) error, error) { return g.Leave(key), nil },
		Keys:  g.Left,
	}, nil
}

func (g *Game) options(hz int, applied func(p audit.TickResult)) world.Options {
	o := g.World
	o.Hz = hz
	o.Applied = func(ctx context.Context, o world.Outcome) {
		if o.Unrecorded {
			return // another leader may run it again
		}
		digest, err := g.Store.Digest(ctx)
		if err != nil {
			panic(err) // impossible outside of a phase
		}
		applied(audit.TickResult{Outcome: o, Digest: digest, Keys: g.Keys(o.Number)})
	}
	return o
}

func (n NewGame) program(hz int) audit.App {
	return func(workers int, applied func(p audit.TickResult)) (*store.Store, world.Options, error) {
		g, err := n(workers)
		if err != nil {
			return nil, world.Options{}, err
		}
		return g.Store, g.options(hz, applied), nil
	}
}
