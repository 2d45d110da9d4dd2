package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"handloom/tasks"
)

// Resource is the number, 0 or more, of something that systems share.
type Resource int

// System is one step of a frame with its declarations, which the schedule does not check: a
// system that touches more may race.
type System struct {
	Name string // unique in the schedule

	Reads  []Resource // for reading
	Writes []Resource // for direct changes; includes reading
	Emits  []Resource // for commands, which the next flush applies

	// After names systems that must end before this one begins, without a flush between
	// them.
	After []string

	// If, unless it is nil, reports whether the system runs in this frame. It is called on
	// the goroutine of [Schedule.Run] while no system runs. It changes neither waves nor
	// flush points.
	If func() bool

	// Run may be called on any goroutine, and returns when everything it started has ended.
	Run func(ctx context.Context) error
}

// Schedule runs systems frame after frame. It belongs to one goroutine at a time, except
// [Schedule.Timings].
type Schedule struct {
	words
	plan
	running atomic.Bool
	frame   frame
	timings timings
}

// New computes waves and flush points, in time square in the number of systems.
//
// It reports all of these errors at once: no systems, empty or duplicate names, systems
// without Run, negative resources, unknown names in After, and systems that wait for each
// other.
//
// name returns the name of a resource for errors and [Schedule.Explain].
func New(name func(Resource) string, systems ...System) (*Schedule, error) {
	if len(systems) == 0 {
		return nil, errors.New("no systems; give at least one")
	}
	s := &Schedule{words: words{slices.Clone(systems), name}}
	var err error
	s.plan, err = newPlan(s.words)
	if err := errors.Join(append(faults(systems), err)...); err != nil {
		return nil, err
	}
	s.frame.init(s)
	s.timings.rings = make([]ring, len(systems))
	return s, nil
}

// Order returns the indexes of the systems in serial order.
func (s *Schedule) Order() []int { return slices.Clone(s.serial) }

// End ends a resource in each frame at the first flush point after the last wave that
// touches it (or, if none does, the first wave that emits to it), or at the end of the
// frame. It reports whether systems touch the resource.
func (s *Schedule) End(r Resource) (touched bool) {
	at := -1
	for w, systems := range s.waves {
		for _, i := range systems {
			to := accessesOf(&s.systems[i]).to(r)
			switch touches := to&(reads|writes) != 0; {
			case touches:
				at, touched = w, true
			case at < 0 && to == emits:
				at = w
			}
		}
	}
	if at < 0 {
		return false
	}
	for at++; at < len(s.waves) && len(s.flushes[at]) == 0; {
		at++
	}
	s.ends[at] = append(s.ends[at], r)
	return touched
}

// A SystemError is the error of a system or of its condition.
type SystemError struct {
	System string
	Err    error // of Run, a [*tasks.PanicError], or [tasks.ErrGoexit]
}

func (e *SystemError) Error() string { return fmt.Sprintf("tasks: system %q: %v", e.System, e.Err) }

// Format prints the stack of a panic, too, for %+v.
func (e *SystemError) Format(s fmt.State, verb rune) {
	if verb == 'v' && s.Flag('+') {
		fmt.Fprintf(s, "tasks: system %q: %+v", e.System, e.Err)
		return
	}
	fmt.Fprintf(s, fmt.FormatString(s, verb), e.Error())
}

func (e *SystemError) Unwrap() error { return e.Err }

type Run struct {
	// Workers is the maximum number of goroutines of a wave, including the caller, and the
	// size of the team if Run opens one. 0 means all of the team, or GOMAXPROCS.
	Workers int

	// Flush is called at each flush point with the resources that end there, on the
	// goroutine of Run while no system runs. May be nil.
	Flush func(ctx context.Context, ends []Resource) error

	// Shuffle is for tests: it returns a permutation of 0..n-1, the order in which the n
	// systems of a wave start. nil: in order.
	Shuffle func(n int) []int
}

// Run runs one frame. All systems of a wave run, even if one fails. Then Run returns the
// error of the failed system that was registered first, as a [*SystemError], and runs no
// further wave or flush. Before each wave and flush it returns the cause of ctx if that has
// ended.
//
// Run and passes share the team of ctx (see [tasks.WithTeam]), or one that Run opens for
// the frame. While systems of a wave use it, a Run inside them works inline. A system alone
// in its wave runs on the caller, and a Run inside it has the team. So at most as many
// goroutines work as the team has workers.
//
// Apart from errors, Run allocates nothing in the steady state of a team. It panics if a
// frame of the same schedule is running.
func (s *Schedule) Run(ctx context.Context, f Run) error {
	if !s.running.CompareAndSwap(false, true) {
		panic("tasks: Run of a schedule whose frame has not ended; run frames one after another, or make a schedule for each goroutine")
	}
	defer s.running.Store(false)
	return tasks.WithTeam(ctx, f.Workers, func(ctx context.Context) error { return s.frame.begin(ctx, f) })
}

// Timings returns durations of the last 128 runs of each system. Any goroutine may call it
// at any time.
func (s *Schedule) Timings() Timings {
	all := make(Timings, len(s.systems))
	s.timings.lock.Lock()
	defer s.timings.lock.Unlock()
	for i := range all {
		all[i] = s.timings.rings[i].timing(s.systems[i].Name)
	}
	return all
}

type Timing struct {
	System   string
	Runs     int // runs measured, at most 128
	Last     time.Duration
	P50, P99 time.Duration
	Max      time.Duration
}
