package world

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"handloom/internal/check"
	"handloom/internal/entrance"
	"handloom/store"
)

// Open opens a World on a log, with a store whose tables are registered. If the log is empty,
// Options.Init builds the first state, and Open saves it as a snapshot. Otherwise Open loads
// the newest snapshot and replays the later ticks. Then the World leads or follows.
//
// Until Close only Read of the store may be called; Inbox, Submit, Flush, Frame and other
// changes return [store.ErrPhase]. A Log value serves one World; Open refuses a journal that
// another World writes. Worlds with Options.Observe may share it.
//
// Requests to a shared log are repeated for up to 30 s, longer than an election takes. Open
// returns the errors of Run, [store.ErrSnapshot] for a table that cannot be saved, and
// [store.ErrCheckpoint] for a table that cannot be copied. After an error the state of the
// store is undefined.
func Open(ctx context.Context, s *store.Store, l Log, o Options) (*World, error) {
	check.Given(ctx != nil, "world: Open", "context")
	check.Given(s != nil, "world: Open", "Store")
	check.Given(l != nil, "world: Open", "Log")
	w, err := newWorld(ctx, s, l, o)
	if err != nil {
		return nil, err
	}
	if err = w.hold(l); err == nil {
		err = w.open(ctx)
	}
	if err != nil {
		_ = w.halt(err)
		w.release()
		return nil, err
	}
	return w, nil
}

var errHeld = errors.New("world: Open: another World writes this journal; close that World, give this one a folder of its own, or set Options.Observe")

// hold refuses a journal that another World writes: they would fence each other.
func (w *World) hold(l Log) error {
	j, is := l.(entrance.Journal)
	if !is || w.o.Observe {
		return nil
	}
	release, ok := j.Entrance(entrance.Key{})
	if !ok {
		return errHeld
	}
	w.unhold = release
	return nil
}

// release gives the store and the log to others. Nothing of the World may run.
func (w *World) release() {
	w.exclusive.Release()
	if w.unhold != nil {
		w.unhold()
		w.unhold = nil
	}
}

func newWorld(ctx context.Context, s *store.Store, l Log, o Options) (*World, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	c, err := s.Entrance(entrance.Key{}).OpenClaim(ctx)
	if err != nil {
		return nil, fmt.Errorf("world: %w", err)
	}
	w := &World{store: s, exclusive: c, log: l, o: o, incarnation: random(), role: new(follower), lock: make(chan struct{}, 1), woken: make(chan struct{}, 1)}
	if o.Observe {
		w.log = observed{l}
	}
	w.life, w.end = context.WithCancelCause(context.Background())
	w.ticks, w.dies = context.WithCancelCause(context.Background())
	w.shards, w.termStart = shardsOf(s), w.newTermStart()
	w.wait = w.firstWait()
	w.stats.savedAt, w.stats.damaged = time.Now(), make(map[uint64]error)
	return w, nil
}

func random() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return max(1, binary.LittleEndian.Uint64(b[:]))
}

func (w *World) open(ctx context.Context) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	if waits, err := w.recoverOrWait(ctx); waits || err != nil {
		return err
	}
	w.lastRecord = time.Now()
	if _, _, err := w.becomeLeader(ctx); err != nil && !errors.Is(err, errFenced) {
		return err
	}
	return nil
}

// recoverOrWait recovers the state, or makes the World wait if Options.Wait allows it.
func (w *World) recoverOrWait(ctx context.Context) (waits bool, err error) {
	var tail uint64
	if w.o.Wait { // a handoff after it must not be missed
		if tail, err = ask(ctx, w.log, w.log.Tail); err != nil {
			return false, fmt.Errorf("world: %w", err)
		}
	}
	err = w.recover(ctx)
	if w.mayWait(err) {
		err = w.waitAfter(max(tail, 1) - 1)
	}
	if errors.Is(err, errWaits) {
		return true, nil
	}
	return false, err
}

// recover restores the newest snapshot and applies the records after it.
func (w *World) recover(ctx context.Context) error {
	tail, err := w.restore(ctx, func(position) bool { return true })
	if err != nil {
		return err
	}
	defer func() { w.skips = nil }()
	for ahead := (readAhead{log: w.log, tail: tail}); w.at().at < tail; {
		at := w.at().at + 1
		rec, next, err := ahead.record(ctx, at)
		if err != nil {
			return w.loadNewer(ctx, err)
		}
		w.skips = skipOf(next)
		if err := w.apply(ctx, at, rec, origin{replay: true}); err != nil {
			return err
		}
	}
	return nil
}

// restore restores the newest snapshot that serves, and returns the position of the last record.
func (w *World) restore(ctx context.Context, serves func(h position) bool) (tail uint64, err error) {
	found, err := w.load(ctx, serves)
	if err != nil {
		return 0, err
	}
	tail, err = ask(ctx, w.log, w.log.Tail)
	switch {
	case err != nil:
		return 0, fmt.Errorf("world: %w", err)
	case !found:
		return 0, fmt.Errorf("world: %w: %d records and no snapshot to start from: %v", ErrCorrupt, tail, w.stats.passedErr)
	case w.at().at > tail:
		return 0, fmt.Errorf("world: %w: snapshot of record %d, but the log ends at %d", ErrCorrupt, w.at().at, tail)
	}
	return tail, nil
}

// init builds the first state.
func (w *World) init(ctx context.Context, writer *store.Writer) error {
	if w.o.Init == nil {
		return nil
	}
	return w.o.Init(ctx, writer)
}

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
	if _, err := w.store.Frame(w.exclusive.Context(ctx), w.init); err != nil {
		return fmt.Errorf("world: Init: %w", err)
	}
	return w.saveNow(ctx)
}
