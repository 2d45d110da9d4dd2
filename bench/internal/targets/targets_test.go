package targets_test

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"handloom/bench/internal/measure"
	"handloom/bench/internal/suite"
	"handloom/bench/internal/targets"
)

var everything = regexp.MustCompile("")

func plan(processors int) *targets.Plan { return targets.NewPlan(everything, processors) }

func selected(p *targets.Plan) []measure.Case {
	return p.Select(suite.Options{Workers: p.Workers()}.All())
}

func measured(cases []measure.Case, rounds int) (results []measure.Result) {
	for _, c := range cases {
		r := measure.Result{Case: c}
		for range rounds {
			r.Samples = append(r.Samples, measure.Sample{Value: 1, Bodies: 1})
		}
		results = append(results, r)
	}
	return results
}

// evaluateOnes returns the targets if every sample is 1.
func evaluateOnes(p *targets.Plan) []targets.Target {
	all := measured(selected(p), 6)
	return p.Evaluate(all, all)
}

func TestTargets_CanBeMeasured(t *testing.T) {
	for _, processors := range []int{2, 6, 16, 64} {
		p := plan(processors)
		ids := make(map[string]bool)
		for _, target := range evaluateOnes(p) {
			ids[target.ID] = true
			if target.Value.Median != 1 {
				t.Errorf("%s, %s: the value is %v; want 1", target.ID, target.Work, target.Value.Median)
			}
		}
		for id := range strings.FieldsSeq("P1 P2 P3 P4 P5 P7 P8 P9 P10 P11 P12 P13 P14 P15 P16 P17 P18 P19 Q6 Q9 Q10 R1 R7 R8 R10") {
			if !ids[id] {
				t.Errorf("with %d processors %s has no value", processors, id)
			}
		}
	}
}

func TestPlan_OmitsTooManyWorkers(t *testing.T) {
	for processors, want := range map[int]int{1: 0, 2: 2, 16: 4} {
		all := evaluateOnes(plan(processors))
		all = slices.DeleteFunc(all, func(target targets.Target) bool { return target.ID != "P12" })
		if len(all) != want {
			t.Errorf("on %d processors P12 has %d lines, want %d", processors, len(all), want)
		}
	}
}

func TestPlan_SelectsOnlyNeededCases(t *testing.T) {
	p := targets.NewPlan(regexp.MustCompile("^P7$"), 2)
	for _, c := range p.Select(suite.Options{Workers: p.Workers()}.All()) {
		if c.Op != "clear" || c.Impl != "handlemap" && c.Impl != "words" {
			t.Errorf("for P7 %s is measured", c.Name())
		}
	}
	if n := len(selected(targets.NewPlan(regexp.MustCompile("^P99$"), 2))); n != 0 {
		t.Errorf("for no target %d cases are measured", n)
	}
}

func set(results []measure.Result, name string, samples ...float64) {
	for i := range results {
		if results[i].Name() == name {
			results[i].Samples = nil
			for _, v := range samples {
				results[i].Samples = append(results[i].Samples, measure.Sample{Value: v, Bodies: 1})
			}
		}
	}
}

func evaluate(t *testing.T, p *targets.Plan, results []measure.Result, id, work string, n, size int) targets.Target {
	t.Helper()
	for _, target := range p.Evaluate(results, results) {
		if target.ID == id && strings.Contains(target.Work, work) && target.N == n && target.Size == size {
			return target
		}
	}
	t.Fatalf("there is no %s, %s", id, work)
	return targets.Target{}
}

func TestEvaluate_TakesTheMedianOfRatios(t *testing.T) {
	p := plan(2)
	results := measured(selected(p), 6)
	// The machine became ten times as slow; the ratio stayed.
	set(results, "op=get/impl=handlemap/n=100000/size=8", 3, 3, 3, 30, 30, 30)
	set(results, "op=get/impl=straight/n=100000/size=8", 2, 2, 2, 20, 20, 20)
	set(results, "op=get/impl=map/n=100000/size=8", 12, 12, 12, 120, 120, 120)
	base := evaluate(t, p, results, "P5", "baseline", 100_000, 8)
	if base.Value.Median != 1.5 || base.Value.High != 1.5 || base.Met || base.Higher || base.Limit != 1 {
		t.Errorf("compared with the baseline the target is %+v; want 1.5, missed", base)
	}
	gomap := evaluate(t, p, results, "P5", "map[uint64]T", 100_000, 8)
	if gomap.Value.Median != 4 || !gomap.Met || !gomap.Higher || gomap.Limit != 4 {
		t.Errorf("compared with the map the target is %+v; want 4, met", gomap)
	}
	if other := evaluate(t, p, results, "P5", "baseline", 1_000_000, 8); other.Value.Median != 1 || !other.Met {
		t.Errorf("with another n the target is %+v", other)
	}
}

// A process has one placement of code and data.
func TestEvaluate_TakesP5FromStarts(t *testing.T) {
	p := targets.NewPlan(regexp.MustCompile("^P5$"), 2)
	rounds, starts := measured(selected(p), 6), measured(selected(p), 6)
	set(starts, "op=get/impl=handlemap/n=100000/size=8", 2, 2, 3, 3, 4, 4)
	for _, target := range p.Evaluate(rounds, starts) {
		want := 1.0
		if target.Work == "random Get / baseline" && target.N == 100_000 && target.Size == 8 {
			want = 3
		}
		if target.Value.Median != want {
			t.Errorf("%s of %d: %v, want %v", target.Work, target.N, target.Value.Median, want)
		}
	}
	if n := len(p.Starts(selected(p))); n != 8 {
		t.Errorf("%d cases are measured per start, want 8", n)
	}
}

// The best peer has the best median of the run, not of one round.
func TestEvaluate_TakesTheBestPeerOfTheRun(t *testing.T) {
	p := plan(2)
	results := measured(selected(p), 6)
	for impl, v := range map[string]float64{"table": 2, "syncmap": 90, "xsync": 12, "rwmutexmap": 50, "shardedmap": 40, "rwmutexstraight": 10} {
		lucky := v
		if impl == "xsync" {
			lucky = 4
		}
		set(results, "op=mixed/impl="+impl+"/n=100000/size=8/workers=2", lucky, v, v, v, lucky, v)
	}
	if target := evaluate(t, p, results, "P14", "rival", 100_000, 8); target.Value.Median != 5 || !target.Met {
		t.Errorf("the target is %+v; want 5 times the table's, met", target)
	}
}

func TestEvaluate_OmitsTargetsWithoutCases(t *testing.T) {
	p := targets.NewPlan(regexp.MustCompile("^P18$"), 2)
	results := measured(selected(p), 6)
	set(results, "op=halves/impl=fresh")
	got := p.Evaluate(results, results)
	if len(got) != 1 || got[0].Value.Median != 1 || !got[0].Promise {
		t.Errorf("the targets are %+v; want only that of the team", got)
	}
}

func TestWrite_ShowsMetTargets(t *testing.T) {
	p := targets.NewPlan(regexp.MustCompile("^P(7|18)$"), 2)
	results := measured(selected(p), 6)
	set(results, "op=clear/impl=handlemap/n=100000/size=64", 1.25, 1.5, 1.5, 1.5, 1.5, 1.5)
	var b bytes.Buffer
	if err := targets.Write(&b, p.Evaluate(results, results)); err != nil {
		t.Fatal(err)
	}
	const want = `id           n  size  work                                                 value     ±   target
P7     100,000     8  Clear / slot words cleared by hand                    1.00   0 %  <= 1.30  met
P7     100,000    64  Clear / slot words cleared by hand                    1.50  17 %  <= 1.30  missed
P7   1,000,000     8  Clear / slot words cleared by hand                    1.00   0 %  <= 1.30  met
P7   1,000,000    64  Clear / slot words cleared by hand                    1.00   0 %  <= 1.30  met
P18                   phase of two 20 us halves on a team of 2 / one half   1.00   0 %  <= 1.15  met
P18                   same without a team                                   1.00   0 %

4 of 5 targets met
`
	if b.String() != want {
		t.Errorf("the table is\n%s\nwant\n%s", b.String(), want)
	}
}

func TestReadme_StatesTheContract(t *testing.T) {
	var lines []string
	for line := range strings.Lines(readFile(t, "../../README.md")) {
		if strings.HasPrefix(line, "| P") || strings.HasPrefix(line, "| Q") || strings.HasPrefix(line, "| R") || strings.HasPrefix(line, "| M |") {
			lines = append(lines, line)
		}
	}
	p := plan(16)
	for _, target := range evaluateOnes(p) {
		i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "| "+target.ID+" |") })
		if i < 0 {
			t.Errorf("the README has no line for %s", target.ID)
			continue
		}
		limit := strconv.FormatFloat(target.Limit, 'f', -1, 64)
		percent := strconv.FormatFloat(100*target.Limit, 'f', -1, 64) + " %"
		share := "1/" + strconv.FormatFloat(1/target.Limit, 'f', 0, 64)
		if target.Promise && !strings.Contains(lines[i], limit) && !strings.Contains(lines[i], percent) && !strings.Contains(lines[i], share) {
			t.Errorf("for %s, %s, the README has no %s: %s", target.ID, target.Work, limit, lines[i])
		}
	}
}
