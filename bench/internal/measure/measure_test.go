package measure_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"handloom/bench/internal/measure"
)

type journal []string

func (j *journal) add(format string, args ...any) { *j = append(*j, fmt.Sprintf(format, args...)) }

// newCase returns a case that keeps the journal. Its bodies take no time.
func (j *journal) newCase(op, impl string) measure.Case {
	return measure.Case{Op: op, Impl: impl, N: 10, Unit: measure.PerItem, Open: func() *measure.Work {
		j.add("open %s/%s", op, impl)
		return &measure.Work{
			Items:   10,
			Prepare: func() {},
			Body:    func() { j.add("%s/%s", op, impl) },
			Close:   func() { j.add("close %s/%s", op, impl) },
		}
	}}
}

// rounds returns the measured bodies of an op, by round: two per sample, the
// first untimed.
func (j journal) rounds(op string, cases int) (rounds [][]string) {
	var bodies []string
	for _, line := range j {
		if impl, ok := strings.CutPrefix(line, op+"/"); ok {
			bodies = append(bodies, impl)
		}
	}
	for len(bodies) > 0 {
		var round []string
		for range min(cases, len(bodies)/2) {
			if bodies[0] != bodies[1] {
				return nil
			}
			round = append(round, bodies[0])
			bodies = bodies[2:]
		}
		rounds = append(rounds, round)
	}
	return rounds
}

// run measures in virtual time, because a stall of the machine would change the
// number of bodies.
func run(t *testing.T, o measure.Options, cases ...measure.Case) (results []measure.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		if results, err = o.Run(t.Context(), cases); err != nil {
			t.Fatal(err)
		}
	})
	return results
}

func TestComparison_AlternatesCases(t *testing.T) {
	var j journal
	cases := []measure.Case{j.newCase("get", "a"), j.newCase("get", "b"), j.newCase("get", "c")}
	results := run(t, measure.Options{Rounds: 20, Seed: 1}, cases...)
	rounds := j.rounds("get", 3)
	if len(rounds) != 21 {
		t.Fatalf("there were %d rounds; want 20 and one to warm up:\n%v", len(rounds), j)
	}
	orders := make(map[string]int)
	for _, round := range rounds {
		orders[strings.Join(round, "")]++
		if slices.Sort(round); !slices.Equal(round, []string{"a", "b", "c"}) {
			t.Errorf("a round measured %v; want each case once", round)
		}
	}
	if len(orders) < 4 {
		t.Errorf("the orders of 21 rounds were %v; want them drawn", orders)
	}
	for i, r := range results {
		if r.Name() != cases[i].Name() || len(r.Samples) != 20 {
			t.Errorf("result %d is of %s with %d samples; want %s with 20", i, r.Name(), len(r.Samples), cases[i].Name())
		}
	}
}

func TestRun_OrderFollowsTheSeed(t *testing.T) {
	order := func(seed uint64) string {
		var j journal
		var cases []measure.Case
		for _, op := range []string{"x", "y", "z"} {
			cases = append(cases, j.newCase(op, "a"), j.newCase(op, "b"))
		}
		run(t, measure.Options{Rounds: 5, Seed: seed}, cases...)
		return strings.Join(j, "\n")
	}
	if first := order(7); first != order(7) || first == order(8) {
		t.Errorf("got order %s, want it again with the same seed and another with another seed", first)
	}
}

func TestRun_OpensOneComparisonAtATime(t *testing.T) {
	var j journal
	shared := j.newCase("sort", "c")
	shared.Op, shared.With = "defragment", "sort"
	run(t, measure.Options{Rounds: 2}, j.newCase("get", "a"), j.newCase("sort", "a"), j.newCase("get", "b"), shared)
	open := make(map[string]bool)
	for _, line := range j {
		switch word, what, _ := strings.Cut(line, " "); word {
		case "open":
			open[what] = true
		case "close":
			delete(open, what)
		default:
			name, _, _ := strings.Cut(line, "/")
			for other := range open {
				if !strings.HasPrefix(other, name) {
					t.Fatalf("%s is measured while %s is open", line, other)
				}
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("these were not closed: %v", open)
	}
	rounds := j.rounds("sort", 2)
	for _, round := range rounds {
		if slices.Sort(round); !slices.Equal(round, []string{"a", "c"}) || len(rounds) != 3 {
			t.Errorf("sort and what goes with it had the rounds %v; want three, of both", rounds)
		}
	}
}

func TestInterrupt_KeepsSamples(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	var j journal
	seen := 0
	o := measure.Options{Rounds: 4, Progress: func(p measure.Progress) {
		if seen++; p.Done == 5 {
			stop(errors.New("that is enough"))
		}
		if p.Total != 10 || p.Done != seen-1 {
			t.Errorf("progress %d says %d of %d; want 10 in all", seen, p.Done, p.Total)
		}
	}}
	results, err := o.Run(ctx, []measure.Case{j.newCase("get", "a"), j.newCase("get", "b")})
	if err == nil || err.Error() != "that is enough" {
		t.Errorf("the error is %v; want the cause", err)
	}
	closed := slices.Contains(j, "close get/a") && slices.Contains(j, "close get/b")
	if n := len(results[0].Samples) + len(results[1].Samples); n != 4 || !closed { // 5 done, 2 of them dropped, one interrupted
		t.Errorf("got %d samples, closed %t; want 4, true", n, closed)
	}
}

func TestCase_LimitsItsRounds(t *testing.T) {
	var j journal
	slow := j.newCase("get", "slow")
	slow.Rounds = 2
	results := run(t, measure.Options{Rounds: 5}, slow, j.newCase("get", "fast"))
	if a, b := len(results[0].Samples), len(results[1].Samples); a != 2 || b != 5 {
		t.Errorf("there are %d and %d samples; want 2 and 5", a, b)
	}
}

// Virtual time makes the times exact.
func TestSample_TimesBodiesAlone(t *testing.T) {
	for name, tt := range map[string]struct {
		body, prepare, benchtime time.Duration
		items, bodies            int // bodies includes untimed ones
		unit                     measure.Unit
		want                     measure.Sample
	}{
		"preparing": {
			body: 100 * time.Microsecond, prepare: 2 * time.Millisecond, benchtime: 450 * time.Microsecond,
			items: 2, bodies: 1 + 5, unit: measure.PerItem, want: measure.Sample{Value: 50_000, Bodies: 5, Took: 500 * time.Microsecond},
		},
		// 256 is the first power of two that takes 20 us; 8 stretches are
		// enough; doubling took 511 bodies.
		"short bodies together": {
			body: 100 * time.Nanosecond, benchtime: 200 * time.Microsecond,
			bodies: 511 + 2048, unit: measure.PerOp, want: measure.Sample{Value: 100, Bodies: 2048, Took: 204_800},
		},
		"long body once": {
			body: 25 * time.Millisecond, benchtime: time.Millisecond,
			bodies: 1, unit: measure.PerOp, want: measure.Sample{Value: 25e6, Bodies: 1, Took: 25 * time.Millisecond},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				prepared, bodies := 0, 0
				w := &measure.Work{Items: tt.items, Body: func() { bodies++; time.Sleep(tt.body) }}
				if tt.prepare > 0 {
					w.Prepare = func() {
						if prepared++; prepared != bodies+1 {
							t.Fatalf("preparation %d came after %d bodies", prepared, bodies)
						}
						time.Sleep(tt.prepare)
					}
				}
				if s := w.Sample(tt.unit, tt.benchtime); s != tt.want || bodies != tt.bodies || tt.prepare > 0 && prepared != bodies {
					t.Errorf("got sample %+v of %d bodies, want %+v of %d", s, bodies, tt.want, tt.bodies)
				}
			})
		})
	}
}

func TestWork_RunsWithin(t *testing.T) {
	inside, entered, outside := false, 0, 0
	w := &measure.Work{
		Within: func(sample func()) { inside = true; entered++; sample(); inside = false },
		Body:   func() { outside += map[bool]int{false: 1}[inside] },
	}
	if w.Sample(measure.PerOp, 0); entered != 1 || outside != 0 {
		t.Errorf("entered %d times, %d bodies outside", entered, outside)
	}
}

func TestMeasure_IsTheSample(t *testing.T) {
	calls := 0
	c := measure.Case{Op: "memory", Impl: "a", Unit: "B/item", Open: func() *measure.Work {
		return &measure.Work{Measure: func() float64 { calls++; return 12 + float64(calls) }}
	}}
	r := run(t, measure.Options{Rounds: 3}, c)[0]
	if values := r.Values(); !slices.Equal(values, []float64{13, 14, 15}) {
		t.Errorf("the samples are %v; want none dropped", values)
	}
}

func TestUnit_Of(t *testing.T) {
	for _, tt := range []struct {
		unit   measure.Unit
		want   float64
		higher bool
	}{{measure.PerItem, 5, false}, {measure.PerOp, 5, false}, {measure.PerSecond, 2e8, true}, {"B/item", 5, false}} {
		if got := tt.unit.Of(500, 100); got != tt.want || tt.unit.HigherIsBetter() != tt.higher {
			t.Errorf("100 items in 500 ns are %v %s, higher is better: %v; want %v", got, tt.unit, tt.unit.HigherIsBetter(), tt.want)
		}
	}
}

func TestCase_Name(t *testing.T) {
	for _, tt := range []struct {
		c    measure.Case
		want string
	}{
		{measure.Case{Op: "get", Impl: "map", N: 1000, Size: 8}, "op=get/impl=map/n=1000/size=8"},
		{measure.Case{Op: "flush", Impl: "table", N: 1, Size: 64, Workers: 2}, "op=flush/impl=table/n=1/size=64/workers=2"},
		{measure.Case{Op: "halves", Impl: "team"}, "op=halves/impl=team"},
	} {
		if got := tt.c.Name(); got != tt.want {
			t.Errorf("the name is %q; want %q", got, tt.want)
		}
	}
}
