package campaign

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"handloom/internal/report"
	"handloom/proof/draw"
	"handloom/proof/model"
	"handloom/proof/runner"
	"handloom/proof/script"
)

type Options struct {
	Name     string // prefix of progress lines
	Profile  Profile
	Seed     uint64
	Seeds    int              // programs to draw; 0: until Duration ends
	Duration time.Duration    // 0: unlimited
	Known    []*script.Script // programs played first
	How
	Revision string

	Progress func(line string) // called about once a second; or nil
}

type Outcome struct {
	Programs   int
	Plays      int // programs under one configuration each
	Operations int
	Flushes    int
	Repeated   int // repeated plays
	Seen       model.Counters
	Failure    *Failure // nil: none
	Err        error    // reason for an early end
}

// Failure is a failing program.
type Failure struct {
	runner.Failure
	Program *script.Script // with its configurations
	Found   int            // operations of all programs until then
}

// Run runs a campaign until it is complete, a program fails or ctx ends.
func Run(ctx context.Context, o Options) *Outcome {
	if o.Duration > 0 {
		limited, cancel := context.WithTimeout(ctx, o.Duration)
		defer cancel()
		ctx = limited
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := &campaign{Options: o, stop: stop, begun: time.Now()}
	var working sync.WaitGroup
	for range runtime.NumCPU() {
		working.Go(func() { c.work(ctx) })
	}
	working.Wait()
	return &c.outcome
}

// NewCommand returns the command of a child. A race ends the child at once, so
// that the report is its last output.
func NewCommand(path string) Command {
	return Command{Path: path, Env: []string{fmt.Sprintf("GORACE=halt_on_error=1 exitcode=%d", ExitRace)}}
}

type campaign struct {
	Options
	stop  func()
	begun time.Time

	lock     sync.Mutex
	next     int // index of the next program: in Known, then a seed
	reported time.Time
	outcome  Outcome
}

func (c *campaign) work(ctx context.Context) {
	pair := newPair(c.Command)
	defer pair.close()
	for ctx.Err() == nil {
		p, ok := c.draw()
		if !ok {
			return
		}
		c.play(ctx, p, pair)
	}
}

func (c *campaign) draw() (*script.Script, bool) {
	c.lock.Lock()
	number := c.next
	c.next++
	c.lock.Unlock()
	if number < len(c.Known) {
		p := *c.Known[number]
		if len(p.Configs) == 0 {
			p.Configs = draw.Configs(p.Seed, c.Profile.Configs)
		}
		return &p, true
	}
	if number -= len(c.Known); c.Seeds > 0 && number >= c.Seeds {
		return nil, false
	}
	return c.Profile.Draw(c.Seed+uint64(number), c.Revision), true
}

func (p Profile) Draw(seed uint64, revision string) *script.Script {
	drawn := draw.Script(seed, draw.Options{Steps: p.Steps, Misuses: runner.Misuses()})
	drawn.Revision = revision
	drawn.Configs = draw.Configs(seed, p.Configs)
	return drawn
}

// repeatEvery is the number of seeds per repeated play.
const repeatEvery = 20

// play plays a program under its configurations and compares the results.
func (c *campaign) play(ctx context.Context, p *script.Script, with *pair) {
	total := Outcome{Programs: 1}
	failure, err := with.compare(ctx, p, c.How, p.Seed%repeatEvery == 0, &total)
	c.lock.Lock()
	defer c.lock.Unlock()
	if ctx.Err() != nil && failure == nil {
		return // interrupted
	}
	c.outcome.add(&total)
	switch {
	case err != nil && c.outcome.Err == nil:
		c.outcome.Err = err
		c.stop()
	case failure != nil && c.outcome.Failure == nil:
		failure.Found = c.outcome.Operations
		c.outcome.Failure = failure
		c.stop()
	}
	c.notify()
}

func (c *campaign) notify() {
	now := time.Now()
	if c.Progress == nil || now.Sub(c.reported) < time.Second {
		return
	}
	o := &c.outcome
	c.Progress(fmt.Sprintf("%s%s programs, %s plays, %s operations, %s, %s flushes", c.Name, report.Count(o.Programs), report.Count(o.Plays),
		report.Count(o.Operations), report.Rate(o.Operations, now.Sub(c.begun)), report.Count(o.Flushes)))
	c.reported = now
}

func (o *Outcome) Missing(promises []model.Seen) []model.Seen {
	var missing []model.Seen
	for _, s := range promises {
		if o.Seen[s] == 0 {
			missing = append(missing, s)
		}
	}
	return missing
}
