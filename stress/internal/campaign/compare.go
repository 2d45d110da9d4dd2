package campaign

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"handloom/proof/runner"
	"handloom/proof/script"
)

// pair is two children: the first plays the first configuration, the second all
// others.
type pair [2]child

func newPair(command Command) *pair { return &pair{{Command: command}, {Command: command}} }

func (p *pair) close() {
	p[0].close()
	p[1].close()
}

// How configures plays.
type How struct {
	Command  Command
	Patience time.Duration // per program and configuration; 0: 30 s
}

// patience is the default.
const patience = 30 * time.Second

// compare plays a program under its configurations, the first twice if repeat
// is set, and returns its failure or nil.
func (p *pair) compare(ctx context.Context, prog *script.Script, how How, repeat bool, total *Outcome) (*Failure, error) {
	text := string(prog.Text())
	configs := prog.Configs
	if repeat {
		configs = append(configs[:len(configs):len(configs)], configs[0])
	}
	var first *runner.Result
	for i, c := range configs {
		result, err := p[min(i, 1)].play(ctx, request{
			Program: text, Config: c.String(), Patience: cmp.Or(how.Patience, patience),
		})
		if err != nil {
			return nil, err
		}
		total.Plays++
		total.Operations += result.Operations
		total.Flushes += result.Flushes
		total.Seen.Add(result.Seen)
		if i == len(configs)-1 && repeat {
			total.Repeated++
		}
		switch {
		case result.Failure != nil:
			return failing(prog, *result.Failure, c), nil
		case i == 0:
			first = result
		default:
			if what := runner.Differ(first, result); what != "" {
				f := runner.Failure{Kind: runner.Determinism, What: fmt.Sprintf("%v and %v: %s", configs[0], c, what)}
				return failing(prog, f, configs[0], c), nil
			}
		}
	}
	return nil, nil
}

func failing(p *script.Script, f runner.Failure, configs ...script.Config) *Failure {
	failed := *p
	failed.Configs = configs
	return &Failure{Failure: f, Program: &failed}
}
