package nemesis

import (
	"context"
	"fmt"

	"handloom/cluster/internal/localnet"
	"handloom/internal/cli"
)

// judge returns the verdict on a run that ended with err.
func judge(ctx context.Context, r *Result, err error, mutant string) cli.Verdict {
	if mutant != "" && r.Bad() {
		return cli.NewVerdict("found", localnet.ExitPassed, mutant+": "+r.Faults[0])
	}
	v := localnet.Judge(ctx, r.Bad(), err, fmt.Sprintf("ticks and calls lost %d, changed %d, done twice %d, diverged %d, records broken %d; zombies %d, fenced %d",
		r.Lost, r.Changed, r.Doubled, r.Diverged, r.Broken, r.Zombies, r.Fenced))
	if mutant != "" && v.Exit == localnet.ExitPassed {
		return cli.NewVerdict("missed", localnet.ExitMissed, mutant+" was not found")
	}
	return v
}
