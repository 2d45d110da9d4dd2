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

// Resource is the number, 0 or more, of something that systems share: what it
// stands for is up to the caller.
type Resource int

// System is one step of a frame, and what it says about itself. What it reads,
// writes and emits decides which systems may run at the same time, and nothing
// checks that it is true: a system that touches more than it says may race.
type System struct {
	Name string // unique in the schedule

	Reads  []Resource // looked at
	Writes []Resource // changed at once; reading them is included
	Emits  []Resource // to be changed by the next flush, which applies what was recorded

	// After names systems that have to end before this one begins, for reasons
	// that the resources do not tell. It puts no flush between them.
	After []string

	// If, when it is not nil, is asked in every frame whether the system runs
	// in it: on the goroutine of [Schedule.Run], when the system's wave begins
	// and no system runs. It changes neither waves nor flush points.
	If func() bool

	// Run does the work. It may be called on any goroutine and returns when
	// everything it started has ended.
	Run func(ctx context.Context) error
}

// Schedule runs systems frame after frame, those that do not conflict at the
// same time; see the comment of the package. It belongs to one goroutine at a
// time, but for [Schedule.Timings].
type Schedule struct {
	words
	plan
	running atomic.Bool
	frame   frame
	timings timings
}

// New computes waves and flush points, once and for all; they depend on
// nothing but the systems and the order they are given in. It takes time in the
// square of the number of systems.
//
// No systems, names that are empty or used twice, systems without Run, negative
// resources, unknown names in After and systems that wait for each other are
// errors; all are reported at once.
//
// name returns the name of a resource for errors and [Schedule.Explain], and is called by
// these alone.
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

// Order returns the numbers of the systems, as they were given to New,
// in serial order: the one in which they would run one by one.
func (s *Schedule) Order() []int { return slices.Clone(s.serial) }

// End has a resource end in each frame, when nobody touches it any more: at the first flush
// point after the last wave that does, and at the end of the frame if there is none. A
// resource that systems only emit to ends at the first flush point after the first wave that
// does; End reports whether systems touch it.
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

// A SystemError is the error of a system, or of its condition.
type SystemError struct {
	System string
	Err    error // what Run returned, a [*tasks.PanicError], or [tasks.ErrGoexit]
}

// Error names the system.
func (e *SystemError) Error() string { return fmt.Sprintf("tasks: system %q: %v", e.System, e.Err) }

// Format prints the stack of a panic, too, when the verb is %+v.
func (e *SystemError) Format(s fmt.State, verb rune) {
	if verb == 'v' && s.Flag('+') {
		fmt.Fprintf(s, "tasks: system %q: %+v", e.System, e.Err)
		return
	}
	fmt.Fprintf(s, fmt.FormatString(s, verb), e.Error())
}

// Unwrap returns what the system returned.
func (e *SystemError) Unwrap() error { return e.Err }

// Run says how [Schedule.Run] runs the systems once. The zero Run is valid.
type Run struct {
	// Workers is the number of goroutines, the caller's included, of the team
	// that the frame opens if the context carries none, and the most that a
	// wave uses of one. 0 means GOMAXPROCS, or all of the team.
	Workers int

	// Flush is called at each flush point, on the goroutine of Run while no
	// system runs, with the resources that end there. nil: nothing is done.
	Flush func(ctx context.Context, ends []Resource) error

	// Shuffle is for tests. If it is not nil, the n systems of a wave are begun
	// in the order it returns, a permutation of 0 to n-1; the method Perm of a
	// rand.Rand fits. No outcome may depend on it.
	Shuffle func(n int) []int
}

// Run runs one frame: the waves one after another, with the flushes between
// them. All systems of a wave run, even if one fails; then the error of the one
// that was registered first is returned, as a [*SystemError], and nothing later
// runs, no flush either. Run looks at ctx before each wave and flush and returns
// its cause if it has ended.
//
// Run and passes share one team (see [tasks.WithTeam]): that of ctx or, if there is
// none, one that Run opens for the frame. The systems of a wave use it, and a
// Run inside them finds it busy and works inline. A system that has a wave to
// itself runs on the caller, and a Run inside it has the team. So there are
// never more goroutines at work than the team has workers.
//
// Run allocates nothing in the steady state of a team, errors aside. It panics
// if a frame of the same schedule is running.
func (s *Schedule) Run(ctx context.Context, f Run) error {
	if !s.running.CompareAndSwap(false, true) {
		panic("tasks: Run of a schedule whose frame has not ended; run frames one after another, or make a schedule for each goroutine")
	}
	defer s.running.Store(false)
	return tasks.WithTeam(ctx, f.Workers, func(ctx context.Context) error { return s.frame.begin(ctx, f) })
}

// Timings returns how long the systems took in the last frames, in the order
// they were given to New. It may be called from any goroutine at any
// time. The durations decide nothing.
func (s *Schedule) Timings() Timings {
	all := make(Timings, len(s.systems))
	s.timings.lock.Lock()
	defer s.timings.lock.Unlock()
	for i := range all {
		all[i] = s.timings.rings[i].timing(s.systems[i].Name)
	}
	return all
}

// Timing says how long one system took.
type Timing struct {
	System   string
	Runs     int           // of the last 128, on which the rest rests
	Last     time.Duration // the last of them
	P50, P99 time.Duration // half of them, and 99 of 100, took no longer
	Max      time.Duration
}
