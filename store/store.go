package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/shard/handle"
	"handloom/tasks"
)

var (
	// ErrPhase is what a call returns, wrapped with what it ran into and what to
	// do instead, that is not allowed in the phase its context carries.
	ErrPhase = errors.New("not allowed in this phase")
	// ErrClosed is what phases of a closed store return.
	ErrClosed = errors.New("store is closed")
	// ErrBroken is what phases return after a flush failed beyond its commit
	// point, which is a bug of Handloom's.
	ErrBroken = errors.New("store is broken")
)

// Options configure a [Store]. The zero Options are good.
type Options struct {
	Workers    int // goroutines of a pass or flush, the caller's included; 0: the team's, else GOMAXPROCS, read anew each time
	QueueLimit int // commands one queue may hold; 0: 16,777,216

	QueueBytes int64 // values and handles one queue may hold; 0: no limit
	BatchLimit int   // commands from which on no further pass starts; 0: no limit
	BatchBytes int64 // likewise for their values and handles
	InboxLimit int   // commands that may wait in the inbox; 0: 1,048,576

	// Seed gives the tasks of passes random numbers, [Queue.Rand], and makes how far they
	// are a part of the state, so that digests differ from those of a store without. 0: none.
	Seed uint64

	// AfterFlush is called after each flush that had commands, by the goroutine
	// that flushed, with the report that Flush is about to return. A flush inside it
	// is [ErrPhase]. After a Flush that nothing is around it may open phases. Inside a
	// Write it may open those that join, with the context of that; any other phase, and
	// every phase inside a Run, is ErrPhase, because the Write or Run holds the store
	// until AfterFlush returns. So is such a phase in the AfterFlush of another store.
	// Commands that it records are for the next flush.
	AfterFlush func(r *Report)
}

const (
	defaultQueueLimit = 1 << 24
	defaultInboxLimit = 1 << 20
)

// Store holds tables and divides all work on them into phases. New makes one;
// the package comment says which goroutine may do what.
//
// The guide's page is guide/phases.md.
type Store struct {
	options Options
	gate    lock
	batch   *batch.Batch
	epoch   atomic.Uint64 // flushes with commands
	frames  atomic.Uint64 // that have begun; their numbers decide nothing but which is which
	closed  bool          // kept under the gate
	broken  bool          // likewise

	goroutines phaseGoroutines
	applying   atomic.Bool               // checked builds: a flush is beyond its commit point
	systems    atomic.Pointer[[]*system] // checked builds: those of schedules that run; the list is not written

	tables  []*table // by ordinal
	events  []*table // those with Events
	writes  uint64   // calls of Write, kept under the gate
	written []uint64 // by ordinal: the call of Write that changed the table last
	lent    []*table // whose maps the Write that runs gave out
	byType  []*table // by typeId; nil: no table has it, or a value
	values  []*table // by [handle.MaxTypeID] less the typeId; nil: no value has it
	names   map[string]*table

	firstFree int                   // a table has every typeId below
	parts     map[string]*component // by full name

	claim    atomic.Pointer[claim] // nil: nobody has claimed the store
	flush    flush
	receipts receipts
	each     eachPass
	random   *random                        // nil: no Seed
	shuffle  func(n int) func(task int) int // see [Store.Shuffle]; nil: not

	planning  sync.Mutex // by NewSchedule
	statsLock sync.Mutex
	stats     Stats
	flushed   Report // the sum of all
}

// New returns a store without tables. It starts no goroutine. It panics with an error that
// names each negative option.
func New(o Options) *Store {
	if err := o.validate(); err != nil {
		panic(err)
	}
	s := &Store{
		options: o,
		batch: batch.New(batch.Limits{
			QueueCommands: cmp.Or(o.QueueLimit, defaultQueueLimit), QueueBytes: o.QueueBytes,
			BatchCommands: o.BatchLimit, BatchBytes: o.BatchBytes,
			InboxCommands: cmp.Or(o.InboxLimit, defaultInboxLimit),
		}),
		names: make(map[string]*table), parts: make(map[string]*component),
	}
	s.flush.init(s)
	s.each.init(s)
	if o.Seed != 0 {
		s.random = newRandom(s, o.Seed)
	}
	return s
}

func (o Options) validate() error {
	var errs []error
	for _, size := range []struct {
		name    string
		value   int64
		meaning string
	}{
		{"Workers", int64(o.Workers), "GOMAXPROCS"},
		{"QueueLimit", int64(o.QueueLimit), "16,777,216"},
		{"QueueBytes", o.QueueBytes, "no limit"},
		{"BatchLimit", int64(o.BatchLimit), "no limit"},
		{"BatchBytes", o.BatchBytes, "no limit"},
		{"InboxLimit", int64(o.InboxLimit), "1,048,576"},
	} {
		if size.value < 0 {
			errs = append(errs, fmt.Errorf("store: %s %d is negative; 0 means %s", size.name, size.value, size.meaning))
		}
	}
	return errors.Join(errs...)
}

// Epoch returns how many flushes with commands the store has seen. It may be
// called from any goroutine. A tick without commands does not advance it, so it is no
// number of the tick, and no seed of random numbers: [Queue.Rand] has those.
func (s *Store) Epoch() uint64 { return s.epoch.Load() }

// Team keeps the workers of passes and flushes warm while fn runs: they are
// started once, find the phases of every context derived from fn's, and are
// joined before Team returns. See [tasks.WithTeam].
func (s *Store) Team(ctx context.Context, fn func(ctx context.Context) error) error {
	s.given(ctx, "Team")
	check.Given(fn != nil, "store: Team", "function")
	return tasks.WithTeam(ctx, s.options.Workers, fn)
}

// Has reports whether id names an item of any table of the store.
func (s *Store) Has(id ID) bool {
	t := s.owner(id)
	if check.Cheap && t != nil {
		t.lookup("Has")
	}
	return t != nil && t.has(id)
}

// Resolve returns the handle of the item that the provisional handle id of the last
// frame was recorded for, and whether there is one; see [Table.Resolve].
func (s *Store) Resolve(id ID) (ID, bool) {
	if t := s.owner(id); t != nil {
		return t.resolve(id)
	}
	return 0, false
}

// owner returns the table that has the typeId of id, or nil.
func (s *Store) owner(id handle.ID) *table {
	return s.tableAt(int(id.TypeID()))
}

// tableAt returns the table, or that of the value, which has the typeId, or nil.
func (s *Store) tableAt(typeID int) *table {
	if typeID < len(s.byType) && s.byType[typeID] != nil {
		return s.byType[typeID]
	}
	if top := handle.MaxTypeID - typeID; uint(top) < uint(len(s.values)) {
		return s.values[top]
	}
	return nil
}

// run runs the n tasks of a pass or flush, all or, when ctx has ended before
// the first, none. cost estimates each in nanoseconds and may be nil.
func (s *Store) run(ctx context.Context, n int, task func(int) error, cost []int64) error {
	if check.Full {
		task = s.goroutines.around(s.phaseOf(ctx), task)
	}
	if instead := s.order(n); instead != nil {
		return s.runInOrder(ctx, n, task, instead)
	}
	return tasks.Run(ctx, n, task, tasks.Options{Workers: s.options.Workers, Weights: cost, Whole: true})
}

// Close waits for open phases and ends the store: from then on phases are
// [ErrClosed] and lookups find nothing. It returns how many recorded commands no
// flush applied. Inside a phase it is [ErrPhase]; when ctx ends first, its cause
// is returned and the store stays open.
func (s *Store) Close(ctx context.Context) (unapplied int, err error) {
	p, err := s.enter(ctx, opClose)
	if err != nil {
		return 0, err
	}
	defer p.leave()
	s.batch.Close(ErrClosed)
	unapplied = s.batch.Pending().Commands
	s.batch.Drop(ErrClosed)
	s.closed = true
	for _, t := range s.tables {
		t.close()
	}
	return unapplied, nil
}

// runReading runs the n tasks of a pass that only reads; it stops between tasks
// when ctx ends. Inside a task of another pass it runs on the caller alone.
func (s *Store) runReading(p *phase, n int, task func(int) error) error {
	workers := s.options.Workers
	if p.inline() {
		workers = 1
	}
	if check.Full {
		task = s.goroutines.around(p, task)
	}
	return tasks.Run(p, n, task, tasks.Options{Workers: workers})
}
