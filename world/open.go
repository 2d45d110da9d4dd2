package world

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"handloom/internal/check"
	"handloom/internal/hook"
	"handloom/store"
)

// Open makes a World of a store, whose tables are registered, and the log l. When the
// log is empty, Options.Init builds the first state, which is saved as a snapshot;
// else the state becomes that of the newest snapshot, and the ticks behind it are
// played again. Open owns the log when it returns, unless another World may: then it
// follows.
//
// Until Close the store is the World's: Read is for all, but Inbox, Submit, Flush,
// Write and what else changes it are [store.ErrPhase]. A log serves one World of a
// process: two Worlds on one journal take the log from each other.
//
// A World with Options.Observe follows, and never owns the log.
//
// A log that others may own, and that does not answer, is asked again for 30 s, which is
// longer than elections take. Open fails with what Run fails with, with [store.ErrSnapshot] for a table that cannot
// be saved, naming the field, and with [store.ErrCheckpoint] for one that cannot be
// copied. The state of the store is undefined then.
func Open(ctx context.Context, s *store.Store, l Log, o Options) (*World, error) {
	check.Given(ctx != nil, "world: Open", "context")
	check.Given(s != nil, "world: Open", "Store")
	check.Given(l != nil, "world: Open", "Log")
	w, err := newWorld(ctx, s, l, o)
	if err != nil {
		return nil, err
	}
	if err := w.open(ctx); err != nil {
		_ = w.halt(err)
		w.claim.Release()
		return nil, err
	}
	return w, nil
}

// newWorld makes a World that is nowhere in its log.
func newWorld(ctx context.Context, s *store.Store, l Log, o Options) (*World, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	c, err := hook.OpenClaim[store.Queue, *store.Receipt](ctx, s)
	if err != nil {
		return nil, fmt.Errorf("world: %w", err)
	}
	w := &World{store: s, claim: c, log: l, o: o, incarnation: random(), lock: make(chan struct{}, 1)}
	if o.Observe {
		w.log = observed{l}
	}
	w.life, w.end = context.WithCancelCause(context.Background())
	w.ticks, w.dies = context.WithCancelCause(context.Background())
	w.shards, w.termStart = shardsOf(s), w.ownTermStart()
	w.wait = w.firstWait()
	return w, nil
}

// random returns a number that nobody else has, and not 0.
func random() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return max(1, binary.LittleEndian.Uint64(b[:]))
}

func (w *World) open(ctx context.Context) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	if err := w.recover(ctx, math.MaxUint64); err != nil {
		return err
	}
	w.quiet = time.Now()
	if left, err := w.failoverDelay(ctx); err != nil || left > 0 {
		return err
	}
	if err := w.becomeLeader(ctx); err != nil && !errors.Is(err, errFenced) {
		return err
	}
	return nil
}

// recover comes to the state behind the last record, or behind a tick before that.
func (w *World) recover(ctx context.Context, upTo uint64) error {
	found, err := w.load(ctx, func(h position) bool { return h.tick <= upTo })
	if err != nil {
		return err
	}
	tail, err := ask(ctx, w.log, w.log.Tail)
	switch {
	case err != nil:
		return fmt.Errorf("world: %w", err)
	case !found:
		return fmt.Errorf("world: %w: there are %d records, and no snapshot that they go on from: %v", ErrCorrupt, tail, w.stats.passedErr)
	case w.at().at > tail:
		return fmt.Errorf("world: %w: a snapshot of record %d, and the last is %d", ErrCorrupt, w.at().at, tail)
	}
	if err := w.findSkips(ctx, tail); err != nil {
		return err
	}
	return w.catchUp(ctx, tail, origin{replay: true}, func() bool { return w.now().Number >= upTo })
}

// begin makes the first state and saves it, if the log is empty.
func (w *World) begin(ctx context.Context) error {
	tail, err := ask(ctx, w.log, w.log.Tail)
	if err != nil {
		return fmt.Errorf("world: %w", err)
	}
	saved, err := ask(ctx, w.log, w.log.Snapshots)
	if err != nil {
		return fmt.Errorf("world: %w", err)
	}
	if tail > 0 || len(saved) > 0 {
		return nil
	}
	if w.o.Observe {
		return errNoState
	}
	if w.o.Init != nil {
		if err := w.store.Write(w.claim.Context(ctx), w.o.Init); err != nil {
			return fmt.Errorf("world: Init: %w", err)
		}
	}
	if table, n := w.claim.Left(); n > 0 {
		return fmt.Errorf("world: Init: commands not flushed: %d, the first for table %q; flush what Init records", n, table)
	}
	return w.saveNow(ctx)
}
