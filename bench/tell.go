package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"handloom/bench/internal/page"
	"handloom/bench/internal/results"
	"handloom/bench/internal/targets"
	"handloom/internal/interrupt"
)

// tell prints what came of the run and returns the exit code.
func (p *program) tell(ctx context.Context, before, r *results.Run) (int, error) {
	if err := p.writePage(r); err != nil { // first: printing ends where nobody reads on
		return 0, err
	}
	if err := p.print(r); err != nil {
		return 0, err
	}
	regressions := 0
	if before != nil {
		n, err := p.compare(before, r)
		if err != nil {
			return 0, err
		}
		regressions = n
	}
	switch {
	case r.Partial && p.from == "":
		fmt.Fprintln(p.stderr, "bench: interrupted; what was measured is printed, marked as partial")
		return interrupt.Exit(ctx), nil
	case regressions > 0:
		return exitRegression, nil
	}
	return exitDone, nil
}

// print writes the results in the form that was asked for.
func (p *program) print(r *results.Run) error {
	if p.plan != nil {
		return p.printTargets(r)
	}
	switch p.format {
	case "go":
		return r.WriteGo(p.stdout)
	case "json":
		return r.WriteJSON(p.stdout)
	case "csv":
		return r.WriteCSV(p.stdout)
	case "md":
		return r.WriteMarkdown(p.stdout)
	}
	return r.WriteTable(p.stdout)
}

func (p *program) printTargets(r *results.Run) error {
	reached := p.plan.Evaluate(r.Results)
	if p.format == "json" {
		return targets.WriteJSON(p.stdout, reached, r.Partial)
	}
	fmt.Fprintf(p.stdout, "%s\n%s\n\n", r.Command, r.Environment)
	if err := targets.Write(p.stdout, reached); err != nil {
		return err
	}
	if r.Partial {
		fmt.Fprintln(p.stdout, "partial: interrupted before everything was measured")
	}
	return nil
}

// compare prints how the cases have changed since before and returns how many are
// regressions. Beside output for programs it prints to standard error.
func (p *program) compare(before, after *results.Run) (regressions int, err error) {
	changes, alone, err := results.Compare(before, after, float64(p.threshold))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", p.baseline, err)
	}
	if len(changes) == 0 {
		return 0, fmt.Errorf("%s has no case that was measured now", p.baseline)
	}
	out := p.stdout
	if p.format != "table" && p.format != "md" {
		out = p.stderr
	}
	fmt.Fprintln(out)
	if err := results.WriteChanges(out, changes, alone); err != nil {
		return 0, err
	}
	for _, c := range changes {
		if c.Verdict == results.Regression {
			regressions++
		}
	}
	_, err = fmt.Fprintf(out, "\n%d of %d cases are regressions: worse by more than %s, p < 0.05\n", regressions, len(changes), p.threshold.String())
	return regressions, err
}

// writePage writes the page, if one was asked for.
func (p *program) writePage(r *results.Run) error {
	if p.html == "" {
		return nil
	}
	var b bytes.Buffer
	var reached []targets.Target
	if p.plan != nil {
		reached = p.plan.Evaluate(r.Results)
	}
	if err := page.Write(&b, r, reached); err != nil {
		return err
	}
	return os.WriteFile(p.html, b.Bytes(), 0o644)
}
