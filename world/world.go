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
	"handloom/internal/entrance"
	"handloom/internal/entry"
	"handloom/store"
)

// A World runs a program in ticks: see [Open]. Run and Step are for one goroutine at a time,
// the other methods for any.
type World struct {
	store       *store.Store
	exclusive   entrance.Claim[store.Queue, *store.Receipt, *store.Writer]
	log         Log
	o           Options
	incarnation uint64
	termStart   entry.TermStart // of this World
	shards      []shardName

	life    context.Context // ends with Close
	end     context.CancelCauseFunc
	ticks   context.Context // ends with the last tick
	dies    context.CancelCauseFunc
	driven  atomic.Bool
	calls   atomic.Int64  // of Submit, that have not returned
	lock    chan struct{} // held while log or state change
	closing atomic.Bool

	// Protected by lock.
	unhold     func()           // ends the sole right to write the journal; nil: none
	skips      map[uint64]bool  // ticks that may run without their input
	before     store.Checkpoint // of a tick that runs twice
	undo       store.Checkpoint // of a tick with input that asks for it, see entrance.Redo
	lastRecord time.Time        // time of the last record
	ticked     time.Time        // when the last tick ran here, or its image was loaded
	wait       time.Duration    // election timeout, see firstWait
	termAt     time.Time
	saver      saver

	woken chan struct{} // has a value after the World stopped leading

	mutex    sync.Mutex
	position position
	role     role
	stats    stats
}

// A position is a place in the log.
type position struct {
	at    uint64 // position of the last record, from 1
	chain entry.Chain
	tick  uint64
	entry.Trailer
}

func (h *position) shown() Tick {
	return Tick{Number: h.tick, Seed: h.Seed, Time: time.Unix(0, h.Time).UTC()}
}

// Run runs Options.Hz ticks per second while the World leads, and the leader's ticks while it
// follows. With Hz 0 a leader's tick begins when a call has arrived, and takes all calls that
// arrived during the tick before. When ctx ends, Run returns the cause after the current tick.
// Otherwise it returns [ErrTick], [ErrDiverged], [ErrVersion], [ErrCorrupt], or the error of a
// broken log.
//
// A late World catches up on two ticks and drops the rest. Workers stay warm, as in
// [store.Store.Team].
func (w *World) Run(ctx context.Context) error {
	ctx, done, err := w.drive(ctx, "Run")
	if err != nil {
		return err
	}
	defer done()
	return w.store.Team(ctx, func(ctx context.Context) error {
		for err == nil {
			err = w.advance(ctx, w.lead, func() bool { return false })
		}
		return err
	})
}

// Step runs the next tick if the World leads, at once for any Hz, also without input.
// Otherwise it waits for ticks of the leader, and takes over after the election timeout. It
// returns the last applied tick, or the errors of Run. If ctx ends during an append, the next
// Step completes it.
func (w *World) Step(ctx context.Context) (Tick, error) {
	ctx, done, err := w.drive(ctx, "Step")
	if err != nil {
		return Tick{}, err
	}
	defer done()
	for from := w.now().Number; ; {
		err := w.advance(ctx, w.leaderTick, func() bool { return w.is(leading) || w.now().Number > from })
		if err != nil {
			return Tick{}, err
		}
		if t := w.now(); t.Number > from {
			return t, nil
		}
	}
}

// advance leads or follows, until enough returns true or the role changes.
func (w *World) advance(ctx context.Context, lead func(ctx context.Context) error, enough func() bool) (err error) {
	if w.is(leading) {
		err = lead(ctx)
	} else {
		err = w.follow(ctx, enough)
	}
	if errors.Is(err, errFenced) {
		return nil
	}
	return err
}

func (w *World) drive(ctx context.Context, name string) (context.Context, func(), error) {
	if ctx == nil {
		check.Given(false, "world: "+name, "context")
	}
	if !w.driven.CompareAndSwap(false, true) {
		return nil, nil, fmt.Errorf("world: %s during another Run or Step, or inside a tick or Applied: %w; use one goroutine", name, store.ErrPhase)
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

func insideTick(name string) error {
	return fmt.Errorf("world: %s inside a tick or Applied: %w; call it from another goroutine, or after the tick", name, store.ErrPhase)
}

// A tick whose record is in the log could not run inside a phase of the store.
func (w *World) outside(ctx context.Context, name string) error {
	if w.inside(ctx) {
		return insideTick(name)
	}
	if err := w.store.Read(ctx, nothing); errors.Is(err, store.ErrPhase) {
		return fmt.Errorf("world: %s inside a phase of the store: %w", name, err)
	}
	return nil
}

func nothing(context.Context) error { return nil }

func (w *World) untilClosed(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(w.life, func() { cancel(context.Cause(w.life)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// lockRunning locks, unless ctx ends or the World has halted. Call unlock after it.
func (w *World) lockRunning(ctx context.Context) error {
	if ctx.Err() != nil { // select chooses at random among ready channels
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

// Read calls fn with the last applied tick, in a [store.Store.Read]. A World that lags, or has
// lost the log, passes its own last tick.
func (w *World) Read(ctx context.Context, fn func(ctx context.Context, t Tick) error) error {
	check.Given(ctx != nil, "world: Read", "context")
	check.Given(fn != nil, "world: Read", "function")
	if w.is(waiting) {
		return fmt.Errorf("world: Read: %w", errWaiting)
	}
	return w.store.Read(ctx, func(ctx context.Context) error { return fn(ctx, w.now()) })
}

// Export writes a snapshot of the last tick to dst while ticks continue, for
// [store.Store.Load]. It stops when ctx ends.
func (w *World) Export(ctx context.Context, dst io.Writer) error {
	check.Given(ctx != nil, "world: Export", "context")
	check.Given(dst != nil, "world: Export", "io.Writer")
	if w.inside(ctx) {
		return insideTick("Export")
	}
	var image snapshot
	err := w.stopped()
	if w.is(waiting) {
		err = errWaiting
	}
	if err == nil {
		err = w.copyInto(ctx, &image)
	}
	if err == nil {
		err = image.writeTo(untilDone{ctx, dst})
	}
	if err != nil {
		return fmt.Errorf("world: Export: %w", err)
	}
	return nil
}

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

// Close ends Run and Step and releases the store. A leader completes an append that an earlier
// Run or Step began, or appends a record of its ticks that lack one, for at most a second, and
// saves a snapshot, unless ctx has ended, or fewer than SnapshotTicks ticks, none with commands,
// follow the newest one; then its last record has the digests of all shards. Waiting calls of
// Submit fail, with ErrUncertain if the log may have them; then Close fails with it, too. It fails
// with the log's error if ticks without a record are lost. Its other errors are the errors of Step. Log
// and store stay open.
//
// Close waits for a running tick, append or snapshot until ctx ends, or for one second if ctx
// has ended before. Its error then wraps the cause of ctx and names the operation, after which
// the World closes. A second Close waits for it and returns nil.
func (w *World) Close(ctx context.Context) error {
	check.Given(ctx != nil, "world: Close", "context")
	if w.inside(ctx) {
		return fmt.Errorf("world: Close inside a tick or Applied: %w; end the context of Run, and close after Run has returned", store.ErrPhase)
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
	if !errors.Is(err, errUnfinished) {
		return err
	}
	runs := "a tick or an append"
	if w.closing.Load() {
		runs = "a snapshot"
	}
	return fmt.Errorf("world: Close: %w; %s still runs; the world closes after it", err, runs)
}

func (w *World) close(ctx context.Context) error {
	if w.is(closed) {
		return nil
	}
	_ = w.saver.wait(context.Background()) // the World's end may have ended a save
	var err error
	waits, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	idle := w.at().Idle > 0
	compares := idle && w.pending() == nil // the last record has all digests
	if w.is(leading) && ctx.Err() == nil {
		err = w.recordIdle(waits, w.state)
		if errors.Is(err, errFenced) && !errors.Is(err, store.ErrUncertain) && !idle {
			err = nil // another World leads, and nothing is lost
		}
	}
	switch {
	case !w.is(leading), w.pending() != nil, ctx.Err() != nil:
	case w.isUnsaved():
		err = w.saveNow(ctx)
	case !compares && w.sinceSaved().ticks() > 0: // Open shall compare all that it replays
		w.sealIdle(w.state)
		_ = w.complete(waits)
	}
	uncertain, p := error(nil), w.pending()
	if p != nil {
		uncertain = fmt.Errorf("the record after %d: %w: the world is closed", p.prev, store.ErrUncertain)
		if err != nil {
			uncertain = fmt.Errorf("%w; %w", uncertain, err)
		}
	}
	switch waited := w.change(event{kind: closeCalled, role: &ended{closed, fmt.Errorf("world: %w", store.ErrClosed)}, calls: uncertain}); {
	case waited:
		err = fmt.Errorf("world: Close: %w", uncertain)
	case p != nil && !idle:
		err = nil // the record decides about nothing
	}
	w.release()
	return err
}

// isUnsaved reports whether Close saves: a recovery without its snapshot would run more than a
// few idle ticks. No save may be in progress.
func (w *World) isUnsaved() bool {
	since := w.sinceSaved()
	return w.saver.saved < w.at().at && (since.active > 0 || since.idle >= uint64(w.o.SnapshotTicks))
}

var errUnfinished = errors.New("not finished")

// f continues after errUnfinished.
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
	return fmt.Errorf("%w: %w", errUnfinished, context.Cause(ctx))
}
