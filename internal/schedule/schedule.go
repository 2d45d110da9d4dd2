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

// Resource is the number, 0 or more, of something that systems share, as defined by the
// caller.
type Resource int

// System is one step of a frame with its declarations, which decide which systems may run
// at the same time. The schedule does not check them: a system that touches more than it
// declares may race.
type System struct {
	Name string // unique in the schedule

	Reads  []Resource // resources that Run looks at
	Writes []Resource // resources that Run changes directly; includes reading
	Emits  []Resource // resources that Run records commands for, applied by the next flush

	// After names systems that must end before this one begins, for reasons other than
	// resources. It puts no flush between them.
	After []string

	// If, unless it is nil, reports in every frame whether the system runs. It is called on
	// the goroutine of [Schedule.Run] when the wave begins, while no system runs. It
	// changes neither waves nor flush points.
	If func() bool

	// Run does the work. It may be called on any goroutine and returns when everything it
	// started has ended.
	Run func(ctx context.Context) error
}

// Schedule runs systems frame after frame, those without conflicts at the same time; see
// the package comment. It belongs to one goroutine at a time, except [Schedule.Timings].
type Schedule struct {
	words
	plan
	running atomic.Bool
	frame   frame
	timings timings
}

// New computes waves and flush points, which depend only on the systems and their order. It
// takes time in the square of the number of systems.
//
// New reports all of these errors at once: no systems, empty or duplicate names, systems
// without Run, negative resources, unknown names in After, and systems that wait for each
// other.
//
// name returns the name of a resource for errors and [Schedule.Explain].
func New(name func(Resource) string, systems ...System) (*Schedule, error) {
	if len(systems) == 0 {
		return nil, errors.New("a schedule of no systems does nothing; give at least one")
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

// Order returns the indexes of the systems, as passed to New, in serial order.
func (s *Schedule) Order() []int { return slices.Clone(s.serial) }

// End ends a resource in each frame at the first flush point after the last wave that
// touches it, or at the end of the frame. If systems only emit to it, it ends at the first
// flush point after the first wave that does. End reports whether systems touch the
// resource.
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
	Err    error // error of Run, a [*tasks.PanicError], or [tasks.ErrGoexit]
}

func (e *SystemError) Error() string { return fmt.Sprintf("tasks: system %q: %v", e.System, e.Err) }

// Format also prints the stack of a panic if the verb is %+v.
func (e *SystemError) Format(s fmt.State, verb rune) {
	if verb == 'v' && s.Flag('+') {
		fmt.Fprintf(s, "tasks: system %q: %+v", e.System, e.Err)
		return
	}
	fmt.Fprintf(s, fmt.FormatString(s, verb), e.Error())
}

// Unwrap returns the error of the system.
func (e *SystemError) Unwrap() error { return e.Err }

// Run configures a [Schedule.Run]. The zero value is valid.
type Run struct {
	// Workers is the maximum number of goroutines of a wave, including the caller, and the
	// size of the team that Run opens if the context carries none. 0 means all of the team,
	// or GOMAXPROCS.
	Workers int

	// Flush is called at each flush point with the resources that end there, on the
	// goroutine of Run while no system runs. nil: no flushes.
	Flush func(ctx context.Context, ends []Resource) error

	// Shuffle is for tests: it returns a permutation of 0..n-1, the order in which the n
	// systems of a wave start, such as the method Perm of a rand.Rand. nil: in order. No
	// outcome may depend on it.
	Shuffle func(n int) []int
}

// Run runs one frame: the waves one after another, with flushes between them. All systems
// of a wave run, even if one fails. Then Run returns the error of the failed system that
// was registered first, as a [*SystemError], and runs no further wave or flush. Before each
// wave and flush it returns the cause of ctx if that has ended.
//
// Run and passes share one team (see [tasks.WithTeam]): the team of ctx, or a team that Run
// opens for the frame. While systems of a wave use it, a Run inside them works inline. A
// system alone in its wave runs on the caller, and a Run inside it has the team. So at most
// as many goroutines work as the team has workers.
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

// Timings returns durations of the systems in recent frames, in the order of New. Any
// goroutine may call it at any time. No outcome depends on them.
func (s *Schedule) Timings() Timings {
	all := make(Timings, len(s.systems))
	s.timings.lock.Lock()
	defer s.timings.lock.Unlock()
	for i := range all {
		all[i] = s.timings.rings[i].timing(s.systems[i].Name)
	}
	return all
}

// Timing holds the recent durations of a system.
type Timing struct {
	System   string
	Runs     int           // number of runs measured, at most 128
	Last     time.Duration // duration of the last run
	P50, P99 time.Duration // percentiles
	Max      time.Duration
}
