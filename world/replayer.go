package world

import (
	"context"
	"errors"
	"fmt"
	"io"

	"handloom/internal/check"
	"handloom/internal/entry"
	"handloom/store"
)

// A Replayer runs the ticks of a log again, one by one, forward from a snapshot and back to a
// [Moment]. Number, Seed and Time of each tick and its input are those in the log, so every walk
// leads to the same state after a tick, for any number of workers. It writes nothing to the log.
//
// One goroutine at a time may call its methods. Until Close only reads of the store are allowed
// elsewhere, and between the calls.
type Replayer struct {
	world *World
	ahead readAhead
	skip  bool // digests are not compared
}

// NewReplayer returns a Replayer of l, with a store whose tables are registered and the Options
// of a World on l. It does not call Options.Applied or Init. Start comes next. It returns the
// errors of [Open] for options and store.
func NewReplayer(ctx context.Context, s *store.Store, l Log, o Options) (*Replayer, error) {
	check.Given(ctx != nil, "world: NewReplayer", "context")
	check.Given(s != nil, "world: NewReplayer", "Store")
	check.Given(l != nil, "world: NewReplayer", "Log")
	o.Applied = nil
	return newReplayer(ctx, s, l, o)
}

func newReplayer(ctx context.Context, s *store.Store, l Log, o Options) (*Replayer, error) {
	o.Wait, o.Observe, o.Shadow = false, false, 0
	w, err := newWorld(ctx, s, l, o)
	if err != nil {
		return nil, err
	}
	w.become(event{kind: errorMet, role: &ended{halted, errNoStart}})
	return &Replayer{world: w, ahead: readAhead{log: w.log}}, nil
}

var errNoStart = fmt.Errorf("world: no state: %w; call Start or Back first", store.ErrPhase)

// Start restores the newest undamaged snapshot of a record at or before position at, and returns
// its tick. The Replayer then reads the log up to its last record of this moment. Start costs as
// much as reading the snapshot. After an error the state is undefined until another Start or
// Back. It returns the errors of [Open], and ErrCorrupt if there is no such snapshot.
func (r *Replayer) Start(ctx context.Context, at uint64) (Tick, error) {
	check.Given(ctx != nil, "world: Start", "context")
	return r.start(ctx, func(h position) bool { return h.at <= at })
}

func (r *Replayer) start(ctx context.Context, serves func(h position) bool) (Tick, error) {
	if err := r.leave(); err != nil {
		return Tick{}, err
	}
	tail, err := r.world.restore(ctx, serves)
	if err != nil {
		r.world.become(event{kind: errorMet, role: &ended{halted, err}})
		return Tick{}, err
	}
	r.ahead.tail = tail
	return r.world.now(), nil
}

// leave makes a failed Replayer usable, for another state.
func (r *Replayer) leave() error {
	r.world.become(event{kind: replayReset, role: new(follower)})
	return r.world.stopped()
}

// Next runs the next tick and returns it. It returns [io.EOF] if the log had no further tick at
// Start. A tick that [SkipInput] names runs as on every World.
//
// The errors are [ErrTick], [ErrDiverged] if a record has another digest of the state before it,
// [ErrVersion], [ErrCorrupt], which names the position, and errors of the log, after which Next
// may be repeated. After the others the state is undefined until Back or Start.
func (r *Replayer) Next(ctx context.Context) (Tick, error) {
	check.Given(ctx != nil, "world: Next", "context")
	err := r.next(ctx)
	if err == nil {
		return r.world.now(), nil
	}
	if err != io.EOF && r.world.stopped() == nil {
		err = fmt.Errorf("world: after record %d: %w", r.world.at().at, err)
	}
	return Tick{}, err
}

func (r *Replayer) next(ctx context.Context) error {
	w := r.world
	if err := w.stopped(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	from := w.now().Number
	for w.now().Number == from {
		at := w.at().at + 1
		rec, next, err := r.ahead.record(ctx, at)
		if err != nil {
			return err
		}
		w.skips = skipOf(next)
		err = w.apply(ctx, at, rec, origin{replay: true, upTo: from + 1, unchecked: r.skip})
		if err != nil && !errors.Is(err, errEnds) {
			return err
		}
	}
	return nil
}

// skipOf returns the tick that rec skips. A skip record directly follows its tick.
func skipOf(rec []byte) map[uint64]bool {
	if len(rec) < 4 || entry.Kind(rec[3]) != entry.KindSkip {
		return nil
	}
	var r entry.Record
	if r.Decode(rec) != nil {
		return nil
	}
	return map[uint64]bool{r.Tick: true}
}

// A Moment is a state of a [Replayer], which can return to it. The zero Moment is empty and ready
// to use. It belongs to one Replayer, keeps the memory of its largest state, and must not be
// copied.
type Moment struct {
	state    store.Checkpoint
	position position
}

// Tick returns the last tick before the Moment.
func (m *Moment) Tick() Tick { return m.position.shown() }

// Bytes returns the memory of m: see [store.Checkpoint.Bytes].
func (m *Moment) Bytes() int64 { return m.state.Bytes() }

// Save copies the state to m, in place of its previous one. It has the cost and the
// errors of [store.Store.Checkpoint], after which m is empty and the state is unchanged.
func (r *Replayer) Save(ctx context.Context, m *Moment) error {
	check.Given(ctx != nil, "world: Save", "context")
	check.Given(m != nil, "world: Save", "Moment")
	w := r.world
	if err := w.stopped(); err != nil {
		return err
	}
	m.position = w.at()
	return w.store.Checkpoint(w.exclusive.Context(ctx), &m.state)
}

// Back returns to the state of m, before or after the present one. m is unchanged. It has the cost
// and the errors of [store.Store.Rollback].
func (r *Replayer) Back(ctx context.Context, m *Moment) error {
	check.Given(ctx != nil, "world: Back", "context")
	check.Given(m != nil, "world: Back", "Moment")
	w := r.world
	if w.is(closed) {
		return w.stopped()
	}
	if err := w.store.Rollback(w.exclusive.Context(ctx), &m.state); err != nil {
		return err
	}
	if err := r.leave(); err != nil {
		return err
	}
	w.setPosition(m.position)
	return nil
}

// Close releases the store, which keeps its state. The log stays open.
func (r *Replayer) Close() {
	if r.world.is(closed) {
		return
	}
	r.world.become(event{kind: closeCalled, role: &ended{closed, fmt.Errorf("world: Replayer: %w", store.ErrClosed)}})
	r.world.exclusive.Release()
}
