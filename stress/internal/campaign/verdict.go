package campaign

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"handloom/internal/report"
	"handloom/proof/model"
	"handloom/proof/runner"
)

// Exit codes of a campaign. The program has more.
const (
	ExitPassed       = 0
	ExitInconclusive = 1
	ExitModel        = 10
	ExitInvariant    = 11
	ExitDeterminism  = 12
	ExitLiveness     = 14
	ExitLeak         = 15
	ExitLimit        = 16
	ExitForged       = 17
	ExitMutantMissed = 20
	ExitNeverSeen    = 21
	ExitRace         = 66
	ExitInterrupted  = 130
)

var exitCodes = map[runner.Kind]int{
	runner.Model: ExitModel, runner.Invariant: ExitInvariant, runner.Determinism: ExitDeterminism, runner.Liveness: ExitLiveness,
	runner.Leak: ExitLeak, runner.Limit: ExitLimit, runner.Forged: ExitForged, runner.Race: ExitRace,
}

func Exit(k runner.Kind) int { return exitCodes[k] }

// Verdict returns the verdict on a campaign, its exit code, and a reason of one
// line.
func (o *Outcome) Verdict(promises []model.Seen, interrupted bool) (verdict string, exit int, reason string) {
	missing := o.Missing(promises)
	switch {
	case o.Failure != nil:
		return string(o.Failure.Kind), Exit(o.Failure.Kind), firstLine(o.Failure.What)
	case o.Err != nil:
		return "inconclusive", ExitInconclusive, firstLine(o.Err.Error())
	case interrupted:
		return "interrupted", ExitInterrupted, "nothing failed so far: " + o.scope()
	case o.Programs == 0:
		return "inconclusive", ExitInconclusive, "no program was played"
	case len(missing) > 0:
		var names []string
		for _, s := range missing {
			names = append(names, s.String())
		}
		return "never-seen", ExitNeverSeen, "nothing failed, but promised states never came up: " + strings.Join(names, ", ")
	}
	return "passed", ExitPassed, o.scope()
}

func (o *Outcome) scope() string {
	return fmt.Sprintf("programs %s, plays %s, operations %s, flushes %s, repeated %s", report.Count(o.Programs),
		report.Count(o.Plays), report.Count(o.Operations), report.Count(o.Flushes), report.Count(o.Repeated))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func (o *Outcome) add(other *Outcome) {
	o.Programs += other.Programs
	o.Plays += other.Plays
	o.Operations += other.Operations
	o.Flushes += other.Flushes
	o.Repeated += other.Repeated
	o.Seen.Add(other.Seen)
}

// Rare returns the number of states that occurred, and the n least frequent
// ones.
func (o *Outcome) Rare(n int) (seen int, least []string) {
	var order []model.Seen
	for _, s := range model.AllSeen() {
		if o.Seen[s] > 0 {
			order = append(order, s)
		}
	}
	slices.SortStableFunc(order, func(a, b model.Seen) int { return cmp.Compare(o.Seen[a], o.Seen[b]) })
	for _, s := range order[:min(n, len(order))] {
		least = append(least, fmt.Sprintf("%v %s", s, report.Count(o.Seen[s])))
	}
	return len(order), least
}
