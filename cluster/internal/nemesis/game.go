package nemesis

import (
	"context"

	"handloom/cluster/internal/audit"
	"handloom/proof/game"
	"handloom/store"
	"handloom/world"
)

// A Game is the program of all nodes, and the calls of clients.
type Game struct {
	Store *store.Store
	World world.Options // without Hz and Applied

	// Call returns the call with a key, from the text of a client.
	Call func(key uint64, text string) (func(q store.Queue) error, error)

	// Keys returns the keys of the calls that a tick carried out.
	Keys func(tick uint64) []uint64

	// View returns a copy of the state for [Run.View]. It may be nil.
	View func() any
}

// NewGame makes a game.
type NewGame func(workers int) (*Game, error)

const (
	snapshotTicks = 250 // the auditor reads records before the log trims them
	digestTicks   = 6
	noteTicks     = 100 // for which a note is kept
)

// Notes makes a [game.Game] whose calls leave notes.
func Notes(workers int) (*Game, error) {
	g := game.New(workers, noteTicks)
	return &Game{
		Store: g.Store,
		World: world.Options{Version: "nemesis 1", Init: g.Init, Tick: g.Tick, SnapshotTicks: snapshotTicks, DigestTicks: digestTicks, Portable: true},
		Call:  func(key uint64, _ string) (func(q store.Queue) error, error) { return g.Leave(key), nil },
		Keys:  g.Left,
	}, nil
}

// options returns the options of every world of the game.
func (g *Game) options(hz int, applied func(p audit.Played)) world.Options {
	o := g.World
	o.Hz = hz
	o.Applied = func(ctx context.Context, o world.Outcome) {
		digest, err := g.Store.Digest(ctx)
		if err != nil {
			panic(err) // no phase is under way
		}
		applied(audit.Played{Outcome: o, Digest: digest, Keys: g.Keys(o.Number)})
	}
	return o
}

// program returns the game for an auditor.
func (n NewGame) program(hz int) audit.Program {
	return func(workers int, applied func(p audit.Played)) (*store.Store, world.Options, error) {
		g, err := n(workers)
		if err != nil {
			return nil, world.Options{}, err
		}
		return g.Store, g.options(hz, applied), nil
	}
}
