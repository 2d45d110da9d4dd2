package history

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"handloom/internal/check"
	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// A Game is the program of a log.
type Game struct {
	// New returns a store with its tables, for a number of workers, the Options of its world, and
	// checks of that store. It shares nothing between two calls. Several goroutines call it, once
	// for each store that plays ticks. Init, Applied and Observe have no effect.
	New func(workers int) (*store.Store, world.Options, Checks, error)
}

// Checks are functions that fail if the state of a program is wrong, by name. They change nothing.
type Checks map[string]func() error

// Options are the settings of a History; the zero value is usable.
type Options struct {
	Memory int64 // max bytes of checkpoints, without memory that Clone allocates; default 1 GiB
	Stores int   // max number of stores that scan at the same time; default GOMAXPROCS

	// Any plays records of other versions, of other architectures and of other versions of Go.
	// Digests in the records show if the states differ.
	Any bool
}

var (
	// ErrRange means that a tick cannot be played, because the log does not keep it. The message
	// has the nearest tick that it keeps.
	ErrRange = errors.New("the tick is not kept")

	// ErrImpure means that two plays of a tick lead to two states: the tick is not a function of
	// state and input. The message has tick, table and shard.
	ErrImpure = errors.New("two plays of the tick differ")
)

// A History plays the ticks of a log. One goroutine at a time may call its methods.
type History struct {
	log     world.Log
	game    Game
	o       Options
	close   func() error
	version string // of the program

	// In the order of their ticks. The last tick of a version is also the first tick of the next one.
	spans []span

	// The cursor is nil until the first seek. It plays one span; the shelf has its checkpoints, which
	// no other store can use.
	cursor *player
	shelf  shelf

	played atomic.Uint64 // number of ticks that the players played

	unchecked bool // players do not compare digests with the log
}

const defaultMemory = 1 << 30

// Open opens the journal in dir as [journal.OpenRead] does, also while a world writes it, and
// changes nothing. Then it continues as [OpenLog]. Close closes the journal.
func Open(ctx context.Context, dir string, g Game, o Options) (*History, error) {
	check.Given(ctx != nil, "history: Open", "context")
	j, err := journal.OpenRead(dir)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	h, err := OpenLog(ctx, j, g, o)
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	h.close = j.Close
	return h, nil
}

// OpenLog reads every record of l once, to find the ranges, and plays three ticks after the newest snapshot
// four times, also with another number of workers, which is [ErrImpure] if the states differ. It returns
// errors of the log unless they concern single records, which [Range] has.
func OpenLog(ctx context.Context, l world.Log, g Game, o Options) (*History, error) {
	check.Given(ctx != nil, "history: OpenLog", "context")
	check.Given(l != nil, "history: OpenLog", "Log")
	check.Given(g.New != nil, "history: OpenLog", "Game.New")
	if o.Memory < 0 || o.Stores < 0 {
		return nil, fmt.Errorf("history: OpenLog: got Memory %d and Stores %d, want at least 0", o.Memory, o.Stores)
	}
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	if o.Stores == 0 {
		o.Stores = runtime.GOMAXPROCS(0)
	}
	h := &History{log: l, game: g, o: o, close: func() error { return nil }}
	// Only the version of this store is needed: it plays no tick.
	_, w, _, err := g.New(1)
	if err != nil {
		return nil, fmt.Errorf("history: Game.New: %w", err)
	}
	h.version = w.Version
	if h.spans, err = scan(ctx, l); err != nil {
		return nil, err
	}
	if err := h.verifyNewest(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

// Close releases the stores, and closes the journal of [Open].
func (h *History) Close() error {
	h.dropCursor()
	return h.close()
}

// Ranges returns the ranges of the log, in order. The ticks between two ranges are not kept. It
// includes ranges of other versions, which only Options.Any plays.
func (h *History) Ranges() (all []Range) {
	for i := range h.spans {
		all = append(all, h.spans[i].Range)
	}
	return all
}

// Seek restores the state after a tick and returns its store, which is good until the next call
// of a method, for reads only. It plays the ticks since the nearest checkpoint or snapshot.
//
// It returns [ErrRange], [world.ErrVersion] if another version ran the tick, [world.ErrTick] if the
// tick or an earlier one fails, and the other errors of [world.Replayer.Next].
func (h *History) Seek(ctx context.Context, tick uint64) (*store.Store, world.Tick, error) {
	check.Given(ctx != nil, "history: Seek", "context")
	p, err := h.seek(ctx, tick, tick)
	if err != nil {
		return nil, world.Tick{}, err
	}
	return p.store, p.tick, nil
}
