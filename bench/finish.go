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
	var reached []targets.Target
	if p.plan != nil {
		reached = p.plan.Evaluate(r.Results, r.Starts)
	}
	if p.html != "" { // first, because a closed pipe ends the printing
		var b bytes.Buffer
		err := r.WritePage(&b, reached)
		if err == nil {
			err = cli.WriteFile(p.html, b.Bytes())
		}
		if err != nil {
			return 0, err
		}
	}
	if err := p.print(r, reached); err != nil {
		return 0, err
	}
	if r.Partial {
		fmt.Fprintln(p.stderr, "bench: interrupted; what was measured is printed, marked as partial")
		return cli.Exit(ctx), nil
	}
	return exitDone, nil
}

func (p *command) print(r *results.Run, reached []targets.Target) error {
	switch {
	case p.plan != nil:
		fmt.Fprintf(p.stdout, "%s\n%s\n\n", r.Command, r.Environment)
		err := targets.Write(p.stdout, reached)
		if err == nil && r.Partial {
			_, err = fmt.Fprintln(p.stdout, "partial: interrupted before everything was measured")
		}
		return err
	case p.format == "go":
		return r.WriteGo(p.stdout)
	case p.format == "md":
		return r.WriteMarkdown(p.stdout)
	}
	return r.WriteTable(p.stdout)
}
