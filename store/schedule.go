package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/schedule"
)

// System is one step of a frame, and what it says about itself. What it reads,
// writes and emits decides which systems may run at the same time. In a checked
// build (tag handloom_check, or the race detector) a pass that does more than
// its system says is [ErrUndeclared], and so is a look-up on any goroutine of the
// system: the goroutine that calls Run, those of its tasks, and those that these
// start.
//
// In every build these goroutines have one label for profiles: the key "system" with
// Name. The context of Run carries it, too, in place of the labels of the caller. After
// Run the goroutine has the labels of the context of the frame. The checks know
// goroutines by this label, so that a goroutine with other labels is not checked.
type System struct {
	Name string // unique in the schedule

	Reads  []Resource // looked at: lookups, Reduce, ForEachRows
	Writes []Resource // items or elements written in place: ForEach, Column.Write; reading is included
	Emits  []Resource // recorded into: tables and columns that the next flush changes

	// After names systems that have to end before this one begins, for reasons
	// that the tables do not tell. It puts no flush between them.
	After []string

	// If, when it is not nil, is asked in every frame whether the system runs in
	// it: on the goroutine that runs the frame, when the system's wave begins
	// and no system runs. It may look things up, but start no phase.
	If func() bool

	// Run does the work. It may be called on any goroutine. With its context
	// ForEach, Each and Reduce join the wave, one after another.
	Run func(ctx context.Context) error
}

// Resource is what systems can be in each other's way over: a [*Table], a
// [*StableTable], a [*Column], a [*Sparse], a [*Value], or an [Other]. Who reads or writes a column or
// optional data reads its table as well, without naming it; who records a Set or an Unset
// emits to the column or the data alone.
type Resource interface {
	Name() string
	resource() resource // not of a nil pointer
	isNil() bool
}

// resource says what a Resource stands for, if it is not only a name.
type resource struct {
	table *table     // nil: none
	part  *component // of the table; nil: the table itself
}

// isNil reports whether r is nil, or a nil pointer.
func isNil(r Resource) bool { return r == nil || r.isNil() }

// name returns the name for messages and pictures.
func (r resource) name(of Resource) string {
	if r.part != nil {
		return r.part.fullName
	}
	return of.Name()
}

// String names a table or a part of one for messages.
func (r resource) String() string {
	if r.part != nil {
		return fmt.Sprintf("%s %q", r.part.what, r.part.fullName)
	}
	return fmt.Sprintf("table %q", r.table.name)
}

// Other is a resource that is no table, told from others by its name: a search
// tree, a window, a random number generator. Nothing is emitted to it, because
// no flush applies that.
type Other string

// Name returns the name.
func (o Other) Name() string { return string(o) }

func (Other) resource() resource { return resource{} }
func (Other) isNil() bool        { return false }

// Schedule runs systems frame after frame, those that do not conflict at the same
// time, in waves, and flushes between them. To read or write a table is to touch it. Of
// two systems the one given later is
//
//	earlier   later    the later one runs
//	writes    touches  in a later wave
//	reads     writes   in a later wave
//	emits     touches  in a later wave, behind a flush
//	touches   emits    beside it or later
//	emits     emits    beside it or later
//
// Items of tables with Events end after the last system that touches them; see
// [TableOptions].
//
// Which systems share a wave and where the flushes are is computed once, from what
// systems declare and the order they are given in, never from sizes, times or workers.
//
// Each system finds in the tables it names what it would find if the systems ran one
// by one, each followed by a flush: the same items with the same values. Of two puts
// to one item the one of the later system wins, whatever else is in the schedule.
// What depends on which commands share a flush is up to the schedule: the handles
// that new items get and the order of rows, whether a limit is met, the counters of
// reports and what [Created] lists, and whether a provisional handle that one
// system left to another is still of the batch. It is the same in every run.
//
// The guide's page is guide/systems.md.
type Schedule struct {
	store     *Store
	plan      *schedule.Schedule
	systems   []*system // in serial order
	given     []System
	resources []named // by number
	running   atomic.Bool
	frame     frame
	report    Report                                  // of the frame
	spare     struct{ tables, columns []TableReport } // memory for the next

	flush func(ctx context.Context, ends []schedule.Resource) error // bound once
}

// system is a system of a schedule, and the state of what it runs.
type system struct {
	System
	store  *Store
	queues *batch.Sequence
	each   eachPass

	nameHash uint64 // for random numbers
	passes   uint64 // likewise: begun in this Run

	labels *check.Labels // of its goroutines

	// In checked builds:
	tables []*table     // that it reads or writes, or parts of
	parts  []*component // that it reads or writes
}

// NewSchedule computes waves and flush points of systems that work on the tables
// of s. Of two systems that conflict, the one given first runs first.
//
// No systems, names that are empty or used twice, systems without Run, tables of
// another store, tables with Events that another schedule reads, unknown names in After
// and systems that wait for each other are mistakes of the program: NewSchedule panics with
// an error that names all.
func NewSchedule(s *Store, systems ...System) *Schedule {
	s.made("NewSchedule")
	s.planning.Lock()
	defer s.planning.Unlock()
	c := &Schedule{store: s, given: slices.Clone(systems)}
	var errs []error
	plain := make([]schedule.System, len(systems))
	all := make([]*system, len(systems))
	for i, given := range systems {
		errs = append(errs, given.faults(s)...)
		y := &system{System: given, store: s, queues: s.batch.NewSequence(), labels: check.NewLabels("system", given.Name), nameHash: nameHash(given.Name)}
		y.each.init(s)
		y.looks()
		all[i] = y
		plain[i] = schedule.System{
			Name: given.Name, After: given.After, If: given.If,
			Reads: c.reads(&given), Writes: c.numbers(given.Writes), Emits: c.numbers(given.Emits),
		}
		if given.Run != nil {
			plain[i].Run = y.run
		}
		errs = append(errs, c.eventFaults(&plain[i])...)
	}
	var err error
	c.plan, err = schedule.New(func(r schedule.Resource) string { return c.resources[r].name }, plain...)
	if err := errors.Join(append(errs, err)...); err != nil {
		panic(fmt.Errorf("store: NewSchedule: %w", err))
	}
	for _, i := range c.plan.Order() {
		c.systems = append(c.systems, all[i])
	}
	c.planEnds()
	c.bind()
	return c
}

// faults returns what is wrong with the resources of a system.
func (y *System) faults(s *Store) (errs []error) {
	for _, of := range []struct {
		field     string
		resources []Resource
	}{{"Reads", y.Reads}, {"Writes", y.Writes}, {"Emits", y.Emits}} {
		for i, r := range of.resources {
			switch {
			case isNil(r):
				errs = append(errs, fmt.Errorf("system %q: %s[%d] is nil; register the table before NewSchedule", y.Name, of.field, i))
			case r.resource().table != nil && !slices.Contains(s.tables, r.resource().table):
				errs = append(errs, fmt.Errorf("system %q: table %q is of another store", y.Name, r.resource().table.name))
			}
		}
	}
	for _, r := range y.Emits {
		if !isNil(r) && (r.resource().table == nil || r.resource().table.isValue()) {
			errs = append(errs, fmt.Errorf("system %q emits to %q, which is no table, so that no flush would apply it; use Writes", y.Name, r.Name()))
		}
	}
	return errs
}

// numbers returns the numbers of resources; new ones get the next.
func (c *Schedule) numbers(resources []Resource) []schedule.Resource {
	var numbers []schedule.Resource
	for _, r := range resources {
		if isNil(r) { // one of the faults
			continue
		}
		of := r.resource()
		numbers = append(numbers, c.number(named{resource: of, name: of.name(r)}))
	}
	return numbers
}

// named is a resource and the name it goes by.
type named struct {
	resource
	name    string
	touched bool // a table with Events, which a system reads or writes
}

func (c *Schedule) number(r named) schedule.Resource {
	at := slices.IndexFunc(c.resources, func(o named) bool {
		return o.resource == r.resource && (r.table != nil || o.name == r.name) // a table may come as a field of something else
	})
	if at < 0 {
		at = len(c.resources)
		c.resources = append(c.resources, r)
	}
	return schedule.Resource(at)
}

// reads returns the numbers of what a system reads: the tables of columns that it reads
// or writes as well, for rows must not move meanwhile.
func (c *Schedule) reads(y *System) []schedule.Resource {
	numbers := c.numbers(y.Reads)
	for _, r := range slices.Concat(y.Reads, y.Writes) {
		if isNil(r) || r.resource().part == nil {
			continue
		}
		t := r.resource().table
		if !contains(y.Reads, t) && !contains(y.Writes, t) {
			numbers = append(numbers, c.number(named{resource: resource{table: t}, name: t.name}))
		}
	}
	return numbers
}

// Systems returns the systems in the order they were given to NewSchedule, for tools
// that show what they touch. Its slices are the schedule's: they are not to be written.
func (c *Schedule) Systems() []System { return slices.Clone(c.given) }

// Explain describes the schedule in words: the waves and, below each system,
// what kept it out of the wave before; the flush points, and why they are there.
func (c *Schedule) Explain() string { return c.plan.Explain() }

// Timings returns how long the systems took in the last frames, in the order
// they were given to NewSchedule. It may be called from any goroutine at any
// time. The durations decide nothing.
func (c *Schedule) Timings() schedule.Timings { return c.plan.Timings() }
