package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"handloom/internal/check"
	"handloom/internal/entry"
	"handloom/internal/hook"
	"handloom/store"
)

// A World runs a program in ticks: see [Open]. Run and Step are for one goroutine at a
// time; every other method may be called by any.
type World struct {
	store       *store.Store
	claim       hook.Claim[store.Queue, *store.Receipt]
	log         Log
	o           Options
	incarnation uint64
	termStart   entry.TermStart // of this World
	shards      []shardName

	life    context.Context // ends with Close
	end     context.CancelCauseFunc
	ticks   context.Context // ends with the last tick
	dies    context.CancelCauseFunc
	driven  atomic.Bool   // Step or Run is running
	lock    chan struct{} // held while the log or the state is moved on
	closing atomic.Bool   // Close has the turn, or had it

	// Kept by who has the turn.
	pending *pending        // a record of which it is open whether it is in the log
	buf     []byte          // of the pending record
	skips   map[uint64]bool // ticks that may be played without their input
	shadow  float64         // part of a tick that is due to be played twice
	before  store.Checkpoint
	quiet   time.Time     // since when there has been no record
	wait    time.Duration // how long it must be quiet before taking over
	termAt  time.Time     // when the last term began
	sealed  time.Time     // when this World sealed its last tick
	saver   saver

	mutex    sync.Mutex
	position position
	leads    bool
	halted   error // why there is no further tick; ErrClosed once closed
	stats    stats
}

// A position is how far a World has come along its log.
type position struct {
	at    uint64      // position of the last record
	chain entry.Chain // after it
	tick  uint64      // the last one
	entry.Trailer
}

// shown returns the last tick as the program sees it.
func (h *position) shown() Tick {
	return Tick{Number: h.tick, Seed: h.Seed, Time: time.Unix(0, h.Time).UTC()}
}

// Run runs ticks, Options.Hz of them a second while the World owns the log, and those
// of the owner while it follows; it takes over when the owner has been silent. It
// returns the cause of ctx when that ends, once the tick that was under way is
// applied, or what has halted the World: an [ErrTick], an [ErrDiverged], an
// [ErrVersion], an [ErrCorrupt], or the error of a log that is broken.
//
// When ticks fall behind, up to two are caught up on and the rest dropped. Workers are
// kept warm meanwhile, as by [store.Store.Team].
func (w *World) Run(ctx context.Context) error {
	ctx, done, err := w.drive(ctx, "Run")
	if err != nil {
		return err
	}
	defer done()
	return w.store.Team(ctx, func(ctx context.Context) error {
		for {
			advance := w.follow
			if w.isLeader() {
				advance = w.lead
			}
			if err := advance(ctx, forever); err != nil && !errors.Is(err, errFenced) {
				return err
			}
		}
	})
}

// Step plays the next tick, if the World owns the log, or applies those that the owner
// has appended: it waits for one at least, and takes over when the owner has been
// silent. It returns the last tick that was applied. Its errors are those of Run; when
// ctx ends, what was being appended is settled by the next Step.
func (w *World) Step(ctx context.Context) (Tick, error) {
	ctx, done, err := w.drive(ctx, "Step")
	if err != nil {
		return Tick{}, err
	}
	defer done()
	for from := w.now().Number; ; {
		advance := w.follow
		if w.isLeader() {
			advance = w.leaderTick
		}
		err := advance(ctx, func() bool { return w.isLeader() || w.now().Number > from })
		if err != nil && !errors.Is(err, errFenced) {
			return Tick{}, err
		}
		if t := w.now(); t.Number > from {
			return t, nil
		}
	}
}

func forever() bool { return false }

const mostCatchUp = 2

// lead plays ticks at their rate for as long as the World owns the log.
func (w *World) lead(ctx context.Context, enough func() bool) error {
	loop := store.Loop{Hz: w.o.Hz, MaxCatchUp: mostCatchUp}
	late, cancel := lingering(ctx, drainTime)
	defer cancel()
	return loop.Run(ctx, func(context.Context, uint64) error { return w.leaderTick(late, enough) })
}

// drainTime is how long a record may still be appended when the context has ended.
const drainTime = time.Second

// lingering returns a context that ends d after ctx has.
func lingering(ctx context.Context, d time.Duration) (context.Context, func()) {
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(d, func() { cancel(context.Cause(ctx)) })
	})
	return late, func() {
		stop()
		cancel(nil)
	}
}

// drive begins a Run or Step, whose context ends also when the World is closed.
func (w *World) drive(ctx context.Context, name string) (context.Context, func(), error) {
	if ctx == nil {
		check.Given(false, "world: "+name, "context")
	}
	if !w.driven.CompareAndSwap(false, true) {
		return nil, nil, fmt.Errorf("world: %s while another Run or Step runs, or inside a tick or Applied: %w; one goroutine drives a World", name, store.ErrPhase)
	}
	if err := w.outside(ctx, name); err != nil {
		w.driven.Store(false)
		return nil, nil, err
	}
	ctx, cancel := w.untilClosed(ctx)
	return ctx, func() {
		cancel()
		w.driven.Store(false)
	}, nil
}

// outside says why nothing can be appended with a context, or nil: a phase of the store
// that it is of would keep the tick from being played when its record is in the log.
func (w *World) outside(ctx context.Context, name string) error {
	if w.inside(ctx) {
		return fmt.Errorf("world: %s inside a tick or Applied: %w", name, store.ErrPhase)
	}
	if err := w.store.Read(ctx, nothing); errors.Is(err, store.ErrPhase) {
		return fmt.Errorf("world: %s inside a phase of the store: %w", name, err)
	}
	return nil
}

func nothing(context.Context) error { return nil }

// untilClosed returns a context that ends with ctx, and when the World is closed.
func (w *World) untilClosed(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(w.life, func() { cancel(context.Cause(w.life)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// take takes the turn, unless ctx ends or the World has halted. Whoever has it gives
// it back with pass.
func (w *World) lockRunning(ctx context.Context) error {
	if ctx.Err() != nil { // of two channels that are ready, select takes any
		return context.Cause(ctx)
	}
	select {
	case w.lock <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := w.stopped(); err != nil {
		w.unlock()
		return err
	}
	return nil
}

func (w *World) unlock() { <-w.lock }

// stopped returns why there is no further tick, or nil.
func (w *World) stopped() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.halted
}

// halt ends the ticks of the World, for err, which it returns. Calls that wait are told.
func (w *World) halt(err error) error {
	w.recordHalt(err)
	w.drain()
	w.dies(err) // who comes to wait from now on waits for nothing
	return err
}

func (w *World) recordHalt(err error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.halted, w.leads = err, false
}

func (w *World) isLeader() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.leads
}

// now returns the last tick.
func (w *World) now() Tick {
	h := w.at()
	return h.shown()
}

func (w *World) at() position {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.position
}

func (w *World) setPosition(h position) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.position = h
}

// Read calls fn with the last tick that was applied, in a phase that only reads: as
// [store.Store.Read]. A World that is behind, or does not own the log any more, shows
// what it knows.
func (w *World) Read(ctx context.Context, fn func(ctx context.Context, t Tick) error) error {
	check.Given(ctx != nil, "world: Read", "context")
	check.Given(fn != nil, "world: Read", "function")
	return w.store.Read(ctx, func(ctx context.Context) error { return fn(ctx, w.now()) })
}

// Export writes a snapshot of the state after the last tick to dst while ticks go on:
// a backup, or a saved game, which [store.Store.Load] reads as well. It writes nothing more
// when ctx ends.
func (w *World) Export(ctx context.Context, dst io.Writer) error {
	check.Given(ctx != nil, "world: Export", "context")
	check.Given(dst != nil, "world: Export", "io.Writer")
	if err := w.stopped(); err != nil {
		return fmt.Errorf("world: Export: %w", err)
	}
	var image snapshot
	if err := w.copyInto(ctx, &image); err != nil {
		return fmt.Errorf("world: Export: %w", err)
	}
	if err := image.writeTo(untilDone{ctx, dst}); err != nil {
		return fmt.Errorf("world: Export: %w", err)
	}
	return nil
}

// untilDone is a writer that fails when its context has ended.
type untilDone struct {
	ctx context.Context
	dst io.Writer
}

func (w untilDone) Write(b []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	return w.dst.Write(b)
}

// Close ends the World: Run and Step return, and the store is free again. The owner
// saves a snapshot, unless ctx has ended, so that the next Open has nothing to replay.
// Calls of Submit that wait fail, with ErrUncertain if a log that does not answer may
// have them. Log and store are left open.
//
// Close waits for a tick, an append or a snapshot that runs, until ctx ends; if ctx has
// ended before, for one second. Its error then wraps the cause of ctx and names what runs.
// The World takes no calls from then on, and closes when that is done. A second Close
// waits for it and returns nil.
func (w *World) Close(ctx context.Context) error {
	check.Given(ctx != nil, "world: Close", "context")
	if w.inside(ctx) {
		return fmt.Errorf("world: Close inside a tick or Applied: %w", store.ErrPhase)
	}
	w.end(fmt.Errorf("world: %w", store.ErrClosed))
	waits, cancel := ctx, func() {}
	if ctx.Err() != nil {
		waits, cancel = context.WithTimeoutCause(context.WithoutCancel(ctx), drainTime, context.Cause(ctx))
	}
	defer cancel()
	err := within(waits, func() error {
		w.lock <- struct{}{}
		defer w.unlock()
		w.closing.Store(true)
		return w.close(ctx)
	})
	if !errors.Is(err, errLate) {
		return err
	}
	runs := "a tick or an append"
	if w.closing.Load() {
		runs = "a snapshot"
	}
	return fmt.Errorf("world: Close: %w; %s still runs, and the world closes after it", err, runs)
}

// close ends the World, in a turn of its own.
func (w *World) close(ctx context.Context) error {
	if errors.Is(w.stopped(), store.ErrClosed) {
		return nil
	}
	_ = w.saver.wait(context.Background()) // a save may have ended with the World
	var err error
	if w.isLeader() && w.pending == nil && ctx.Err() == nil && w.saver.saved < w.at().at {
		err = w.saveNow(ctx)
	}
	w.dropPending(fmt.Errorf("%w: the world is closed", store.ErrUncertain))
	_ = w.halt(fmt.Errorf("world: %w", store.ErrClosed))
	w.claim.Release()
	return err
}

// errLate means that a context ended before the work that it limits.
var errLate = errors.New("not done yet")

// within returns the error of f. When ctx ends before f does, it returns errLate and the
// cause of ctx, and f runs on: a log that does not answer keeps nobody waiting.
func within(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() {
		err := store.ErrGoexit
		defer func() { done <- err }()
		err = f()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	return fmt.Errorf("%w: %w", errLate, context.Cause(ctx))
}
