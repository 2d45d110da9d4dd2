package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"handloom/tasks"
)

const (
	position Resource = iota
	velocity
	particle
	event
)

func resourceName(r Resource) string {
	return [...]string{"position", "velocity", "particle", "event"}[r]
}

func nothing(context.Context) error { return nil }

// idle sets missing Runs.
func idle(systems []System) []System {
	for i := range systems {
		if systems[i].Run == nil {
			systems[i].Run = nothing
		}
	}
	return systems
}

func newSchedule(t testing.TB, systems ...System) *Schedule {
	t.Helper()
	s, err := numbered(idle(systems)...)
	noError(t, err)
	return s
}

func shape(s *Schedule) string {
	var parts []string
	for w := range len(s.waves) + 1 {
		if len(s.flushes[w]) > 0 {
			parts = append(parts, "|")
		}
		if w < len(s.waves) {
			var names []string
			for _, i := range s.waves[w] {
				names = append(names, s.systems[i].Name)
			}
			parts = append(parts, strings.Join(names, "+"))
		}
	}
	return strings.Join(parts, " ")
}

func on(r ...Resource) []Resource { return r }

func TestWaves_FollowDeclarations(t *testing.T) {
	for _, c := range []struct {
		name, want string
		systems    []System
	}{
		{"readers share a wave", "a+b", []System{{Name: "a", Reads: on(position)}, {Name: "b", Reads: on(position)}}},
		{"emitters need no flush", "a+c | b", []System{
			{Name: "a", Emits: on(particle)}, {Name: "b", Reads: on(particle)}, {Name: "c", Emits: on(event)},
		}},
		{"emits do not precede an earlier system", "a | b+c | d", []System{
			{Name: "a", Emits: on(particle)},
			{Name: "b", Reads: on(particle, event)},
			{Name: "c", Emits: on(event)}, // in wave 1, b would see its events
			{Name: "d", Reads: on(event)},
		}},
		{"emits do not precede an earlier emitter's", "W | first+second+G | C", []System{
			{Name: "W", Writes: on(velocity), Emits: on(event)},
			{Name: "first", Reads: on(velocity), Emits: on(particle)},
			{Name: "second", Emits: on(particle)}, // in wave 1, the flush for G would apply its commands
			{Name: "G", Reads: on(event)},
			{Name: "C", Reads: on(particle)},
		}},
		{"After reverses emitters", "b | c a+d |", []System{
			{Name: "a", Emits: on(particle), After: []string{"c"}},
			{Name: "b", Emits: on(event, particle)},
			{Name: "c", Emits: on(particle), Reads: on(event)},
			{Name: "d", Emits: on(particle)},
		}},
		{"reversed emitters keep serial order", "p+x v a+b |", []System{
			{Name: "a", Emits: on(event), After: []string{"x"}},
			{Name: "p", Writes: on(position)},
			{Name: "v", Reads: on(position), Writes: on(velocity)},
			{Name: "b", Reads: on(velocity), Emits: on(event)},
			{Name: "x"},
		}},
	} {
		if got := shape(newSchedule(t, c.systems...)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestNew_ReportsAllFaults(t *testing.T) {
	_, err := numbered(
		System{Name: "a", Run: nothing, Reads: on(-2), Emits: on(-3)},
		System{Name: "", Run: nothing},
		System{Name: "a", After: []string{"nobody"}},
		System{Name: "p", Run: nothing, After: []string{"q"}},
		System{Name: "q", Run: nothing, After: []string{"p"}},
	)
	want := `system "a": resource -2 is negative
system "a": resource -3 is negative
system 1: no name
system "a": the name is taken; give each system its own Name
system "a": Run is nil
system "a": After names "nobody", which is not a system; use the Name of a system of this schedule
systems wait for each other: p -> q -> p: p is after q; q is after p; remove one of these After or declarations`
	if err == nil || err.Error() != want {
		t.Errorf("the error is\n%v\nwant\n%s", err, want)
	}
	if _, err := numbered(); err == nil {
		t.Error("a schedule of no systems")
	}
}

func TestNew_ListsCycles(t *testing.T) {
	after := func(name string, others ...string) System { return System{Name: name, After: others} }
	for want, systems := range map[string][]System{
		"a -> a: a is after a": {after("a", "a")},
		"a -> b -> a: a is after b; b reads resource 0, which a writes": {
			{Name: "a", Writes: on(position), After: []string{"b"}}, {Name: "b", Reads: on(position)},
		},
		"a -> b -> a: a is after b; b emits resource 2, which a reads": {
			{Name: "a", Reads: on(particle), After: []string{"b"}}, {Name: "b", Emits: on(particle)},
		},
		"b -> d -> c -> b: b is after c; d is after b; c is after d": {after("a", "d"), after("b", "c"), after("c", "d"), after("d", "b")},
		"a -> b -> a: a is after b; b is after a; remove one of these After or declarations\nsystems wait for each other: c -> d -> c: c is after d; d is after c": {
			after("a", "b"), after("b", "a"), after("c", "d"), after("d", "c"), after("e", "a", "c"),
		},
	} {
		_, err := numbered(idle(systems)...)
		if want := "systems wait for each other: " + want + "; remove one of these After or declarations"; err == nil || err.Error() != want {
			t.Errorf("the error is\n%v\nwant\n%s", err, want)
		}
	}
}

func recorded(t *testing.T, ctx context.Context, f Run, systems ...System) (events []string, err error) {
	t.Helper()
	note := make(chan string, 3*len(systems)+1)
	for i := range systems {
		run := systems[i].Run
		systems[i].Run = func(ctx context.Context) error {
			note <- systems[i].Name
			if run != nil {
				return run(ctx)
			}
			return nil
		}
	}
	if f.Flush == nil {
		f.Flush = func(context.Context, []Resource) error {
			note <- "flush"
			return nil
		}
	}
	err = newSchedule(t, systems...).Run(ctx, f)
	close(note)
	for e := range note {
		events = append(events, e)
	}
	return events, err
}

func TestRun_StopsAtTheFirstFailure(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	alarmed := false
	alarm := func(context.Context) error { alarmed = true; return nil }
	emits, reads := System{Name: "a", Emits: on(particle)}, System{Name: "b", Reads: on(particle)}
	for _, c := range []struct {
		name, want, err string
		run             Run
		systems         []System
	}{
		{"nothing fails", "a flush b", "", Run{}, []System{emits, reads}},
		{"condition before its wave", "watch flee flush", "", Run{Workers: 1}, []System{
			{Name: "watch", Writes: on(position), Run: alarm},
			{Name: "flee", Writes: on(position), Emits: on(event), If: func() bool { return alarmed }},
			{Name: "rest", Reads: on(position, event), If: func() bool { return !alarmed }},
		}},
		{"condition moves no flush", "flush b", "", Run{}, []System{
			{Name: "a", Emits: on(particle), If: func() bool { return false }}, reads,
		}},
		{"flush", "a", "flush before wave 2", Run{Flush: flushFails}, []System{emits, reads}},
		{"condition panics", "", "panicked", Run{}, []System{{Name: "a"}, {Name: "b", If: func() bool { panic(1) }}}},
		{"context ends in a wave", "a b", "context canceled", Run{Workers: 1}, []System{
			{Name: "a", Run: func(context.Context) error { cancel(); return nil }}, {Name: "b"}, {Name: "c", After: []string{"b"}},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := recorded(t, ctx, c.run, c.systems...)
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) || strings.Join(got, " ") != c.want {
				t.Errorf("%v ran, then %v, want %s, then %q", got, err, c.want, c.err)
			}
		})
	}
}

var errSystem = errors.New("the system fails")

func fails(context.Context) error { return errSystem }

func flushFails(context.Context, []Resource) error { return errSystem }

func TestFailure_EndsAfterItsWave(t *testing.T) {
	everyForm(t, func(t *testing.T, ctx context.Context, workers int) {
		got, err := recorded(
			t, ctx, Run{Workers: workers},
			System{Name: "a", Writes: on(position)},
			System{Name: "b", Emits: on(particle), Run: func(context.Context) error { panic("boom") }},
			System{Name: "c", Run: fails},
			System{Name: "d"},
			System{Name: "e", Reads: on(position)},
			System{Name: "f", Reads: on(particle)},
		)
		slices.Sort(got)
		if want := []string{"a", "b", "c", "d"}; !slices.Equal(got, want) {
			t.Errorf("%v ran, want %v", got, want)
		}
		var failed *SystemError
		var panicked *tasks.PanicError
		if !errors.As(err, &failed) || failed.System != "b" || !errors.As(err, &panicked) || panicked.Value != "boom" {
			t.Fatalf("the error is %v, want the panic of b", err)
		}
		want := `tasks: system "b": tasks: task 1 panicked: boom (in handloom/store/internal/schedule.TestFailure_EndsAfterItsWave.func1.1, schedule_test.go:`
		if !strings.HasPrefix(err.Error(), want) || fmt.Sprint(err) != err.Error() {
			t.Errorf("the error is %v, want %s", err, want)
		}
		if got := fmt.Sprintf("%+v", err); got != err.Error()+"\n\n"+string(panicked.Stack) {
			t.Errorf("with the stack it is %s", got)
		}
	})
}

func TestFailure_NamesItsSystem(t *testing.T) {
	for want, s := range map[string]System{
		`tasks: system "x": the system fails`:                     {Run: fails},
		`tasks: system "x": tasks: task 0 panicked: panic called`: {Run: func(context.Context) error { panic(error(nil)) }},
		`tasks: system "x": tasks: task 0 panicked: no condition`: {If: func() bool { panic("no condition") }},
		`tasks: flush at the end: the system fails`:               {Emits: on(event)},
		`tasks: schedule stopped: enough`:                         {Name: "late"},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if s.Name == "late" {
			cancel(errors.New("enough"))
		}
		s.Name = "x"
		_, err := recorded(t, ctx, Run{Flush: flushFails}, s)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("the error is\n%v, want\n%s", err, want)
		}
		cancel(nil)
	}
}

func TestRun_NestedFramePanics(t *testing.T) {
	var s *Schedule
	s = newSchedule(t, System{Name: "a", Run: func(ctx context.Context) error { return s.Run(ctx, Run{}) }})
	err := s.Run(t.Context(), Run{})
	if err == nil || !strings.Contains(err.Error(), "whose frame has not ended") {
		t.Errorf("the error is %v", err)
	}
	if err := s.Run(t.Context(), Run{Workers: -1}); err == nil || errors.As(err, new(*SystemError)) {
		t.Errorf("with -1 workers: %v", err)
	}
}
