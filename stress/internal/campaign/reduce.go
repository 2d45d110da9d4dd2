package campaign

import (
	"cmp"
	"context"

	"handloom/proof/draw"
	"handloom/proof/script"
)

// Again plays a program under its configurations and returns its failure, or
// nil.
func Again(ctx context.Context, p *script.Script, how How) (*Failure, *Outcome, error) {
	with := newPair(how.Command)
	defer with.close()
	total := &Outcome{Programs: 1}
	f, err := with.compare(ctx, p, how, false, total)
	return f, total, err
}

// Shrink returns the smallest program found until ctx ends that fails in the
// same way. A hanging program gets less patience, because each try takes that
// long.
func Shrink(ctx context.Context, f *Failure, how How) *Failure {
	with := newPair(how.Command)
	defer with.close()
	how.Patience = cmp.Or(how.Patience, patience) / 6
	best := f
	fails := func(p *script.Script) bool {
		if _, err := script.Parse(p.Text(), "smaller"); err != nil {
			return false
		}
		got, err := with.compare(ctx, p, how, false, new(Outcome))
		if err != nil || got == nil || got.Kind != f.Kind {
			return false
		}
		got.Found, got.Program.Configs = f.Found, p.Configs
		best = got
		return true
	}
	draw.Shrink(ctx, f.Program, fails)
	for i := range best.Program.Configs {
		plainer(best, i, fails)
	}
	return best
}

// plainer simplifies a configuration while the program still fails.
func plainer(f *Failure, i int, fails func(*script.Script) bool) {
	for _, edit := range []func(c *script.Config){
		func(c *script.Config) { c.Delay = 0 },
		func(c *script.Config) { c.Yield = 0 },
		func(c *script.Config) { c.Team = 0 },
		func(c *script.Config) { c.Procs = 0 },
		func(c *script.Config) { c.Shuffle = 0 },
		func(c *script.Config) { c.Workers = 2 },
		func(c *script.Config) { c.Workers = 1 },
	} {
		p := *f.Program
		p.Configs = append([]script.Config(nil), p.Configs...)
		edit(&p.Configs[i])
		if p.Configs[i] != f.Program.Configs[i] && fails(&p) {
			f.Program = &p
		}
	}
}
