package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"handloom/batch"
	"handloom/shard/handle"
	"handloom/tasks"

	"golang.org/x/sync/semaphore"
)

var (
	// ErrPhase is what a call returns, wrapped with what it ran into, that is
	// not allowed in the phase its context carries.
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
}

const defaultQueueLimit = 1 << 24

// Store holds tables and divides all work on them into phases. The package
// comment says which goroutine may do what.
type Store struct {
	options Options
	gate    *semaphore.Weighted
	batch   *batch.Batch
	epoch   atomic.Uint64 // flushes with commands
	closed  bool          // kept under the gate
	broken  bool          // likewise

	tables []table // by ordinal
	byType []table // by typeId; nil: no table has it
	names  map[string]bool

	flush   flush
	each    eachPass
	perturb func(n int) func(task int) int // tests shuffle and delay tasks

	statsLock sync.Mutex
	stats     Stats
}

// New returns a store without tables. It starts no goroutine. It fails, with
// every fault named, on negative options.
func New(o Options) (*Store, error) {
	var errs []error
	if o.Workers < 0 {
		errs = append(errs, fmt.Errorf("store: Workers %d is negative; 0 means GOMAXPROCS", o.Workers))
	}
	if o.QueueLimit < 0 {
		errs = append(errs, fmt.Errorf("store: QueueLimit %d is negative; 0 means %d", o.QueueLimit, defaultQueueLimit))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if o.QueueLimit == 0 {
		o.QueueLimit = defaultQueueLimit
	}
	s := &Store{
		options: o,
		gate:    semaphore.NewWeighted(everyone),
		batch:   batch.New(o.QueueLimit),
		names:   make(map[string]bool),
	}
	s.flush.init(s)
	s.each.init(s)
	return s, nil
}

// Epoch returns how many flushes with commands the store has seen. It may be
// called from any goroutine, and seeds random numbers well.
func (s *Store) Epoch() uint64 { return s.epoch.Load() }

// Team keeps the workers of passes and flushes warm while fn runs: they are
// started once, find the phases of every context derived from fn's, and are
// joined before Team returns. See [tasks.WithTeam].
func (s *Store) Team(ctx context.Context, fn func(ctx context.Context) error) error {
	return tasks.WithTeam(ctx, s.options.Workers, fn)
}

// Has reports whether id names an item of any table of the store.
func (s *Store) Has(id ID) bool {
	t := s.owner(id)
	return t != nil && t.has(id)
}

// Resolve returns the handle of the item that the provisional handle id of the
// last flushed batch was recorded for, and whether there is one; see
// [Table.Resolve].
func (s *Store) Resolve(id ID) (ID, bool) {
	if t := s.owner(id); t != nil {
		return t.resolveID(id)
	}
	return 0, false
}

// owner returns the table that has the typeId of id, or nil.
func (s *Store) owner(id handle.ID) table {
	if typeID := int(id.TypeID()); typeID < len(s.byType) {
		return s.byType[typeID]
	}
	return nil
}

// run runs the n tasks of a pass or flush, all or, when ctx has ended before
// the first, none. cost estimates each in nanoseconds and may be nil.
func (s *Store) run(ctx context.Context, n int, task func(int) error, cost []int64) error {
	if s.perturb != nil {
		shuffled, inner := s.perturb(n), task
		task, cost = func(i int) error { return inner(shuffled(i)) }, nil
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
	unapplied = s.batch.Pending()
	s.batch.Finish(false)
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
	return tasks.Run(p, n, task, tasks.Options{Workers: workers})
}
