package main

import (
	"bytes"
	"context"
	"fmt"

	"handloom/bench/internal/results"
	"handloom/bench/internal/targets"
	"handloom/internal/cli"
)

func (p *command) finish(ctx context.Context, r *results.Run) (int, error) {
	if err := p.writePage(r); err != nil { // first, because a closed pipe ends the printing
		return 0, err
	}
	if err := p.print(r); err != nil {
		return 0, err
	}
	if r.Partial {
		fmt.Fprintln(p.stderr, "bench: interrupted; what was measured is printed, marked as partial")
		return cli.Exit(ctx), nil
	}
	return exitDone, nil
}

func (p *command) print(r *results.Run) error {
	if p.plan != nil {
		return p.printTargets(r)
	}
	switch p.format {
	case "go":
		return r.WriteGo(p.stdout)
	case "md":
		return r.WriteMarkdown(p.stdout)
	}
	return r.WriteTable(p.stdout)
}

func (p *command) printTargets(r *results.Run) error {
	reached := p.plan.Evaluate(r.Results, r.Starts)
	fmt.Fprintf(p.stdout, "%s\n%s\n\n", r.Command, r.Environment)
	if err := targets.Write(p.stdout, reached); err != nil {
		return err
	}
	if r.Partial {
		fmt.Fprintln(p.stdout, "partial: interrupted before everything was measured")
	}
	return nil
}

func (p *command) writePage(r *results.Run) error {
	if p.html == "" {
		return nil
	}
	var b bytes.Buffer
	var reached []targets.Target
	if p.plan != nil {
		reached = p.plan.Evaluate(r.Results, r.Starts)
	}
	if err := r.WritePage(&b, reached); err != nil {
		return err
	}
	return cli.WriteFile(p.html, b.Bytes())
}
