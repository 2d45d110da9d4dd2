package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/seam"
	"handloom/store/internal/schedule"
)

// System is one step of a frame. Its Reads, Writes and Emits decide which systems may run
// at the same time. In a checked build (tag handloom_check, or the race detector) a pass
// with undeclared access is [ErrPhase], also a look-up on any goroutine of the system, as a
// panic that Run returns: the caller of Run, the workers of its tasks, and goroutines that these start.
//
// In every build these goroutines have the profiler label "system" with Name. The context
// of Run carries it in place of the caller's labels; after Run the goroutine has the
// labels of the frame's context again. The checks find goroutines by this label, so they
// skip goroutines with other labels.
type System struct {
	Name string // unique in the schedule

	Reads  []Resource // looked at: lookups, Reduce, ForEachRows
	Writes []Resource // items or elements written in place: ForEach, Column.Write; includes reading
	Emits  []Resource // recorded into: tables and columns that the next flush changes

	// After names systems that must end before this one begins, for reasons other than
	// resources. It adds no flush between them.
	After []string

	// If, unless nil, reports in each frame whether the system runs. It is called on the
	// goroutine that runs the frame, when the wave begins and no system runs. It may look
	// things up, but must not open a phase.
	If func() bool

	// Run does the work, on any goroutine. With its context ForEach, Each and Reduce join
	// the wave, one at a time.
	Run func(ctx context.Context) error
}

// Resource is a possible cause of conflicts between systems: a [*Table], a
// [*StableTable], a [*Column], a [*Sparse], a [*Value], an [Other], or, to read the lists
// of changes of a table, [ChangesOf]. A system that
// reads or writes a column or sparse data also reads its table, without naming it; a Set
// or Unset emits only to the column or sparse data.
type Resource interface {
	Name() string
	resource() resource // the zero resource of a nil receiver
}

// resource is the table or component of a Resource.
type resource struct {
	table     *table     // nil: an Other, or a nil resource
	component *component // nil: the table itself
	isOther   bool       // an [Other]
	isChanges bool       // [ChangesOf] the table
}

func isNil(r Resource) bool { return r == nil || r.resource() == resource{} }

// name returns the name for messages and pictures.
func (r resource) name(original Resource) string {
	switch {
	case r.isChanges:
		return original.Name()
	case r.component != nil:
		return r.component.fullName
	case r.table != nil:
		return r.table.name
	}
	return original.Name()
}

// String returns the kind and name for messages.
func (r resource) String() string {
	if r.component != nil {
		return fmt.Sprintf("%s %q", r.component.what, r.component.fullName)
	}
	return r.table.String()
}

// Other is a resource outside the store, identified by its name: a search tree, a window,
// a device. No flush applies commands to it, so systems cannot emit to it.
type Other string

// Name returns the name.
func (o Other) Name() string { return string(o) }

func (Other) resource() resource { return resource{isOther: true} }

// ChangesOf is the resource of a system that reads the lists of changes of t, or of its
// columns and sparse data: [Created], [Erased], [Written] and the methods of the same
// names. Name it in Reads; it includes reading t. The system runs after all systems that
// write or emit to t or its columns and sparse data, with a flush between, so that the
// lists are complete for this frame. Changes that the system itself makes are only in the
// lists of later readers in the frame.
//
// If no system of the schedule changes them, the lists are of the frame before until a
// flush. NewSchedule panics if such a system follows in the list. ChangesOf panics unless t was
// registered with Changes.
func ChangesOf[T any](t TableOf[T]) Resource {
	core := tableOf("ChangesOf", t)
	core.mustTrack("ChangesOf")
	return changesOf{core}
}

type changesOf struct{ table *table }

func (c changesOf) Name() string       { return "changes of " + c.table.name }
func (c changesOf) resource() resource { return resource{table: c.table, isChanges: true} }

// addChanges lets writers and emitters also emit to the changes of their tables where a
// system reads these, and returns errors for the readers that they follow.
func (c *Schedule) addChanges(plain []schedule.System) (errs []error) {
	for n, r := range c.resources {
		if !r.isChanges {
			continue
		}
		reader := -1
		for i, y := range c.given {
			changes := func(o Resource) bool { return !isNil(o) && !o.resource().isChanges && o.resource().table == r.table }
			if slices.ContainsFunc(slices.Concat(y.Writes, y.Emits), changes) {
				plain[i].Emits = append(plain[i].Emits, schedule.Resource(n))
				if reader >= 0 {
					errs = append(errs, fmt.Errorf("system %q reads the %s, which system %q changes later; list %q before it", c.given[reader].Name, r.name, y.Name, y.Name))
				}
			}
			if reader < 0 && slices.ContainsFunc(y.Reads, func(o Resource) bool { return !isNil(o) && o.resource() == r.resource }) {
				reader = i
			}
		}
	}
	return errs
}

// Schedule runs systems frame after frame. Systems that do not conflict run at the same
// time, in waves, with flushes between them. To touch a table is to read or write it. The
// later of two systems in the list runs
//
//	earlier   later    the later one runs
//	writes    touches  in a later wave
//	reads     writes   in a later wave
//	emits     touches  in a later wave, after a flush
//	touches   emits    in the same wave or later
//	emits     emits    in the same wave or later
//
// Items of tables with Events end after the last system that touches them; see
// [TableOptions].
//
// Waves and flushes are computed once, from the declarations and the order of the
// systems, never from sizes, times or workers.
//
// Each system sees its tables as if the systems ran one by one, each followed by a flush:
// the same items with the same values. If two systems put to one item, the later system
// wins. The schedule decides which commands share a flush, and with that the handles of
// new items and the order of rows, whether a limit is exceeded, the counters of reports,
// the lists of [Created], and whether a provisional handle of an earlier system is still
// in the batch. All are the same in every run.
//
// See guide/systems.md.
type Schedule struct {
	store     *Store
	plan      *schedule.Schedule
	systems   []*system
	given     []System
	resources []namedResource
	running   atomic.Bool
	frame     frame
	report    Report
	spare     struct{ tables, columns []TableReport }

	flush func(ctx context.Context, ends []schedule.Resource) error // bound once
}

// system is a system of a schedule and its state.
type system struct {
	System
	store  *Store
	queues *batch.Sequence
	each   pass

	nameHash uint64
	passes   uint64 // for random numbers: number of passes begun in this Run

	labels *check.Labels

	// In checked builds:
	tables     []*table     // tables that it reads or writes, also through components
	components []*component // components that it reads or writes
}

// NewSchedule computes the waves and flushes of systems on the tables of s. If two
// systems conflict, the first in the list runs first.
//
// It panics with an error that names every mistake: no systems, empty or duplicate names,
// systems without Run, tables of another store, systems that change a table after a reader
// of its [ChangesOf], unknown names in After, and cycles.
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
		y.each.init(domain{})
		y.looks()
		all[i] = y
		plain[i] = schedule.System{
			Name: given.Name, After: given.After, If: given.If,
			Reads: c.reads(&given), Writes: c.numbers(given.Writes), Emits: c.numbers(given.Emits),
		}
		if given.Run != nil {
			plain[i].Run = y.run
		}
	}
	errs = append(errs, c.addChanges(plain)...)
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

// faults returns errors for the resources of a system.
func (y *System) faults(s *Store) (errs []error) {
	for _, list := range []struct {
		field     string
		resources []Resource
	}{{"Reads", y.Reads}, {"Writes", y.Writes}, {"Emits", y.Emits}} {
		for i, r := range list.resources {
			switch {
			case isNil(r):
				errs = append(errs, fmt.Errorf("system %q: %s[%d] is nil; register the table before NewSchedule", y.Name, list.field, i))
			case r.resource().table != nil && !slices.Contains(s.tables, r.resource().table):
				errs = append(errs, fmt.Errorf("system %q: table %q belongs to another store; declare tables of the store given to NewSchedule", y.Name, r.resource().table.name))
			}
		}
	}
	for _, r := range slices.Concat(y.Writes, y.Emits) {
		if !isNil(r) && r.resource().isChanges {
			errs = append(errs, fmt.Errorf("system %q: the %s only belong in Reads; write or emit to the table", y.Name, r.Name()))
		}
	}
	for _, r := range y.Emits {
		if !isNil(r) && (r.resource().table == nil || r.resource().table.isValue()) {
			errs = append(errs, fmt.Errorf("system %q emits to %q, which is not a table; use Writes", y.Name, r.Name()))
		}
	}
	return errs
}

// numbers returns the numbers of resources, and assigns numbers to new ones.
func (c *Schedule) numbers(resources []Resource) []schedule.Resource {
	var numbers []schedule.Resource
	for _, r := range resources {
		if isNil(r) { // reported by faults
			continue
		}
		target := r.resource()
		numbers = append(numbers, c.number(namedResource{resource: target, name: target.name(r)}))
	}
	return numbers
}

type namedResource struct {
	resource
	name string
}

func (c *Schedule) number(r namedResource) schedule.Resource {
	at := slices.IndexFunc(c.resources, func(o namedResource) bool {
		return o.resource == r.resource && (r.table != nil || o.name == r.name) // a table may be passed as an embedded field
	})
	if at < 0 {
		at = len(c.resources)
		c.resources = append(c.resources, r)
	}
	return schedule.Resource(at)
}

// reads returns the numbers of the resources that a system reads, including the tables of
// its columns and change lists, because rows must not move meanwhile.
func (c *Schedule) reads(y *System) []schedule.Resource {
	numbers := c.numbers(y.Reads)
	for _, r := range slices.Concat(y.Reads, y.Writes) {
		if isNil(r) || r.resource().component == nil && !r.resource().isChanges {
			continue
		}
		t := r.resource().table
		if !contains(y.Reads, t) && !contains(y.Writes, t) {
			numbers = append(numbers, c.number(namedResource{resource: resource{table: t}, name: t.name}))
		}
	}
	return numbers
}

// Systems returns the systems in the order of NewSchedule, for tools. Its slices must not
// be changed.
func (c *Schedule) Systems() []System { return slices.Clone(c.given) }

// Explain returns a text with the waves, the reason why each system is not in an earlier
// wave, and the flushes with their reasons.
func (c *Schedule) Explain() string { return c.plan.Explain() }

// Timings returns the durations of systems in the last frames, in the order of
// NewSchedule. Any goroutine may call it at any time. No decision depends on them.
func (c *Schedule) Timings() schedule.Timings { return c.plan.Timings() }

// Run runs one frame, or a part of the frame of its Frame: the waves one after another,
// with flushes between them and at the end. It holds the store alone from the first wave
// to the last flush, or joins the Frame of its context, so readers see whole frames and
// no other goroutine changes anything between two waves. The report is the sum of the
// flushes, with the Epoch of the last one, and valid until the next frame.
//
// All systems of a wave run, even if one fails. Run then returns the error of the first
// failed system in the list as a [*SystemError], runs nothing later, and drops the
// commands of systems since the last flush. It keeps other pending commands, and items
// written in place stay written. A failed flush ends the frame and keeps the whole batch.
// Run checks ctx before each wave and flush.
//
// Queues are ordered by system, so the state after a frame is the same for any number of
// workers. Systems of one wave share the team of ctx, or a team of the frame: their
// passes run inline, each on the goroutine of its system. The passes of a system that is
// alone in its wave use all workers.
//
// The goroutine that flushes calls Run. A second frame of the same schedule meanwhile is
// [ErrPhase]. Run allocates one object, and one per flush, system and pass.
func (c *Schedule) Run(ctx context.Context) (*Report, error) {
	check.Given(c != nil, "store: Run", "Schedule")
	if !c.running.CompareAndSwap(false, true) {
		return nil, fmt.Errorf("store: Run of a schedule while a frame of it runs: %w; run frames one after another", ErrPhase)
	}
	defer c.running.Store(false)
	if check.Cheap {
		defer c.label()()
	}
	s := c.store
	p, err := s.enter(ctx, opRun)
	if err != nil {
		return nil, err
	}
	defer s.receipts.end(&c.frame)
	defer p.leave()
	defer p.trace("").end()
	if p.outer == nil {
		p.frame = &c.frame
		p.frame.begin(s)
		s.flush.adopt(p.frame.number)
	} else {
		p.frame = p.outer.frame
	}
	if s.random != nil {
		s.random.run(c)
	}
	c.report.begin(s.Epoch())
	defer c.drop() // nothing remains after success; Goexit may end the caller
	f := schedule.Run{Workers: s.options.Workers, Flush: c.flush}
	if s.shuffle != nil || seam.Step != nil {
		f.Shuffle = s.shuffleSystems
	}
	if err := c.plan.Run(p, f); err != nil {
		return nil, err
	}
	c.keep()
	s.flush.beginLists(p.frame.number) // no flush has done so unless systems emit
	return &c.report, nil
}

func (c *Schedule) bind() {
	s := c.store
	c.flush = func(ctx context.Context, ends []schedule.Resource) error {
		p, err := s.enterFlush(ctx)
		if err != nil {
			return err
		}
		c.join()
		c.endEvents(p, ends)
		r, err := s.flushIn(p)
		if err == nil {
			c.add(r)
		}
		return err
	}
}

// join adds the commands of the systems to the batch, in serial order.
func (c *Schedule) join() {
	for _, y := range c.systems {
		c.store.batch.Join(y.queues)
	}
}

// keep leaves undeclared commands, which no flush of the frame was for, to the next
// flush.
func (c *Schedule) keep() {
	if slices.ContainsFunc(c.systems, func(y *system) bool { return !y.queues.Empty() }) {
		c.join()
	}
}

func (c *Schedule) drop() {
	for _, y := range c.systems {
		y.queues.Drop()
	}
}

// shuffleSystems returns a random order of the n systems of a wave, if Shuffle is on.
func (s *Store) shuffleSystems(n int) []int {
	order := make([]int, n)
	instead := s.order(n)
	for i := range order {
		order[i] = i
		if instead != nil {
			order[i] = instead(i)
		}
	}
	return order
}

func (y *system) run(ctx context.Context) error {
	p := &phase{Context: ctx, store: y.store, op: opSystem, outer: y.store.phaseOf(ctx), system: y}
	defer p.ended.Store(true)
	if check.Full {
		y.store.goroutines.enter(p)
		defer y.store.goroutines.leave()
	}
	defer y.labels.Enter().Restore(ctx)
	if y.store.probe != nil {
		return y.store.probe.system(p)
	}
	return y.Run(p)
}

// add adds the report of a flush to the report of the frame. Both have their tables by
// typeId.
func (c *Schedule) add(o *Report) {
	r := &c.report
	r.Epoch = o.Epoch
	r.Plan += o.Plan
	r.Apply += o.Apply
	r.Total.Add(o.Total)
	r.DroppedCalls += o.DroppedCalls
	r.Stale = batch.KeepLowest(append(r.Stale, o.Stale...))
	s := c.store
	spare := &c.spare
	r.Tables, spare.tables = merge(spare.tables[:0], r.Tables, o.Tables, func(a, b string) int { return byTypeID(s.names[a], s.names[b]) }), r.Tables
	r.Columns, spare.columns = merge(spare.columns[:0], r.Columns, o.Columns, func(a, b string) int { return byTable(s.components[a], s.components[b]) }), r.Columns
}

// merge appends the sorted lines of both lists to all, and adds up lines of one name.
func merge(all, a, b []TableReport, compare func(a, b string) int) []TableReport {
	for len(a) > 0 && len(b) > 0 {
		switch order := compare(a[0].Name, b[0].Name); {
		case order < 0:
			all, a = append(all, a[0]), a[1:]
		case order > 0:
			all, b = append(all, b[0]), b[1:]
		default:
			all, a = append(all, a[0]), a[1:]
			all[len(all)-1].Add(b[0].Counts)
			b = b[1:]
		}
	}
	return append(append(all, a...), b...)
}
