package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/check"
	"handloom/tasks"
)

var (
	// ErrPhase means that the call is not allowed in the phase of its context. The
	// message names the fix.
	ErrPhase = errors.New("not allowed in this phase")
	// ErrClosed means that the store is closed.
	ErrClosed = errors.New("store is closed")
	// ErrBroken means that a flush failed after its commit, which is a bug of Handloom.
	ErrBroken = errors.New("store is broken")
)

// Options configure a [Store]. The zero value is valid.
type Options struct {
	Workers    int // goroutines of a pass or flush, the caller's included; default: the team's, else GOMAXPROCS, read each time
	QueueLimit int // max commands of a queue; default 16,777,216

	QueueBytes int64 // max bytes of values and handles of a queue; default: no limit
	BatchLimit int   // commands in the batch at which no further pass starts; default: no limit
	BatchBytes int64 // bytes in the batch at which no further pass starts; default: no limit
	InboxLimit int   // max commands that wait in the inbox; default 1,048,576

	// Seed enables random numbers of tasks, [Queue.Rand]. Their position becomes part of
	// the state, so digests differ from a store without Seed. Default 0: none.
	Seed uint64

	// AfterFlush is called after each flush with commands, by the goroutine that flushed,
	// with the report that Flush will return. A flush inside it is [ErrPhase]. After a
	// Flush outside other phases it may open phases. Inside a Frame it may open phases
	// that join the Frame, with its context. Any other phase there, and every phase
	// inside a Run, is ErrPhase, because the Frame or Run holds the store until
	// AfterFlush returns; this includes phases in the AfterFlush of another store.
	// Commands that it records belong to the next flush.
	AfterFlush func(r *Report)
}

const (
	defaultQueueLimit = 1 << 24
	defaultInboxLimit = 1 << 20
)

// Store holds tables and divides all work on them into phases. New makes one; the package
// comment has the rules for goroutines.
//
// See guide/phases.md.
type Store struct {
	options Options
	gate    lock
	batch   *batch.Batch
	epoch   atomic.Uint64 // number of flushes with commands
	frames  atomic.Uint64 // number of frames begun; only identifies them
	closed  bool          // guarded by the gate
	broken  bool          // guarded by the gate

	goroutines phaseGoroutines
	applying   atomic.Bool               // checked builds: a flush is past its commit
	systems    atomic.Pointer[[]*system] // checked builds: systems of running schedules; the list is immutable

	tables  []*table // by ordinal
	events  []*table // tables with Events
	writes  uint64   // number of calls of Write; guarded by the gate
	written []uint64 // by ordinal: the last Write that changed the table
	byType  []*table // by typeId; nil: free or a value's
	values  []*table // by [handle.MaxTypeID] minus typeId; nil: free
	names   map[string]*table

	firstFree  int                   // tables have all lower typeIds
	components map[string]*component // by full name

	claim    atomic.Pointer[claim] // nil: not claimed
	flush    flush
	receipts receipts
	each     pass
	random   *random                        // nil: no Seed
	probe    *probe                         // nil in programs
	shuffle  func(n int) func(task int) int // see [Store.Shuffle]; nil: off

	planning  sync.Mutex // held by NewSchedule
	recording sync.Mutex // held by Queues and Discard, which share the gate with readers
	statsLock sync.Mutex
	stats     []TableStats
	flushed   Report // sum of all reports
}

// New returns a store without tables. It starts no goroutine. It panics with an error
// that names each negative option.
func New(o Options) *Store {
	if err := o.validate(); err != nil {
		panic(err)
	}
	s := &Store{options: o, names: make(map[string]*table), components: make(map[string]*component)}
	s.batch = batch.New(batch.Limits{
		QueueCommands: cmp.Or(o.QueueLimit, defaultQueueLimit), QueueBytes: o.QueueBytes,
		BatchCommands: o.BatchLimit, BatchBytes: o.BatchBytes,
		InboxCommands: cmp.Or(o.InboxLimit, defaultInboxLimit),
		InReduce:      s.goroutines.inReduce,
	})
	s.flush.init(s)
	s.each.init(domain{})
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

// Epoch returns the number of flushes with commands. Any goroutine may call it. Ticks
// without commands do not advance it; do not use it to number ticks or to seed random
// numbers; see [Queue.Rand].
func (s *Store) Epoch() uint64 { return s.epoch.Load() }

// Team keeps the workers of passes and flushes running while fn runs. They serve the
// phases of every context derived from fn's, and end before Team returns. See
// [tasks.WithTeam].
func (s *Store) Team(ctx context.Context, fn func(ctx context.Context) error) error {
	s.given(ctx, "Team")
	check.Given(fn != nil, "store: Team", "function")
	return tasks.WithTeam(ctx, s.options.Workers, fn)
}

// owner returns the table that has the typeId of id, or nil.
func (s *Store) owner(id handle.ID) *table { return s.tableAt(int(id.TypeID())) }

// tableAt returns the table or value with the typeId, or nil.
func (s *Store) tableAt(typeID int) *table {
	if typeID < len(s.byType) && s.byType[typeID] != nil {
		return s.byType[typeID]
	}
	if top := handle.MaxTypeID - typeID; uint(top) < uint(len(s.values)) {
		return s.values[top]
	}
	return nil
}

// run runs the n tasks of a pass or flush: all, or none when ctx has ended before the
// first. cost has estimates in nanoseconds and may be nil.
func (s *Store) run(ctx context.Context, n int, task func(int) error, cost []int64) error {
	if check.Full {
		task = s.goroutines.around(s.phaseOf(ctx), task)
	}
	if instead := s.order(n); instead != nil {
		return s.runInOrder(ctx, n, task, instead)
	}
	return tasks.Run(ctx, n, task, tasks.Options{Workers: s.options.Workers, Weights: cost, Whole: true})
}

// Close waits for open phases and closes the store: later phases are [ErrClosed] and
// lookups find nothing. It returns the number of recorded commands that no flush applied.
// Inside a phase it is [ErrPhase]; when ctx ends first, it returns the cause and the
// store stays open.
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

// runReading runs the n tasks of a pass that only reads; it stops between tasks when ctx
// ends. Inside a task of another pass it runs on the caller alone.
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
