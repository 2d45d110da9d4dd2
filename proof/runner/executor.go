package runner

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"handloom/internal/seam"
	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

// executor runs one program. The goroutine of the program owns it. Tasks read names and the
// models, bind their own names, write to their own place in running, and may call fail and
// see.
type executor struct {
	program *script.Script
	config  script.Config
	inject  injector

	// The store and both models, from open on. tables and modelled are by table number.
	store    *store.Store
	tables   []bound
	modelled []model.Table
	exact    *model.Exact
	abstract *model.Abstract

	// The handles of the program. fresh are names whose creates wait for a flush, old are
	// names of the flush before, recorded are all names that a pass or call has recorded.
	names       map[int]*variable
	order       map[*script.Step]int // of steps outside tasks
	fresh       []int
	old         []int
	recorded    []int
	abandoned   []uint64 // handles of abandoned histories
	checkpoints map[int]*checkpoint
	columns     int  // number of components of all tables
	full        bool // an Insert of the Frame was refused
	tracked     map[model.ColumnID]bool
	sortedBy    map[int]int // by table: last order of Defragment, plus 1

	// The open call of the inbox, or nil, and whether a flush of this frame has sealed the
	// inbox.
	late   *call
	sealed bool

	// The running step, for failures and for random numbers.
	step   int
	line   *script.Step
	result Result

	// Tasks fail at the same time; the first failure stays.
	lock    sync.Mutex
	failure *Failure
}

// Play runs a program under a configuration. A fault-free result depends only
// on the program. If ctx ends, the run ends after a step, without the checks at
// the end.
func Play(ctx context.Context, p *script.Script, c script.Config) *Result {
	// The widths must be set before the store makes its first slot.
	defer seam.Narrow(uint16(p.Narrow.Generations), uint32(p.Narrow.Slots))()
	pl := newExecutor(p, c)
	seam.Step = pl.inject.step
	defer func() { seam.Step = nil }()
	restore := pl.inject.procs()
	defer restore()
	before := goroutines()
	pl.whole(ctx)
	pl.checkGoroutines(before)
	pl.result.Failure = pl.failure
	return &pl.result
}

// newExecutor returns an executor without a store, which open makes.
func newExecutor(p *script.Script, c script.Config) *executor {
	pl := &executor{program: p, config: c, checkpoints: make(map[int]*checkpoint), sortedBy: make(map[int]int), tracked: make(map[model.ColumnID]bool)}
	pl.inject.init(c)
	return pl
}

// whole runs the program from the opening to the closing of the store.
func (p *executor) whole(ctx context.Context) {
	defer p.recovered()
	// Drawn programs have valid options, so a refusal is a fault.
	if err := p.open(); err != nil {
		p.fail(Model, "the store or a table is refused: %v", err)
		return
	}
	// A step is not interrupted: the models could not predict its answer.
	steps := context.WithoutCancel(ctx)
	if p.config.Team == 0 {
		p.steps(steps, ctx.Err)
		return
	}
	err := p.store.Team(steps, func(steps context.Context) error {
		// A panic is recorded here, before it passes through the Team.
		defer p.recovered()
		p.steps(steps, ctx.Err)
		return nil
	})
	p.want(err == nil, "Team: %v", err)
}

// recovered turns a panic of the store into a failure. Panics that the program asks for are
// caught where they are expected.
func (p *executor) recovered() {
	if v := recover(); v != nil {
		p.fail(Invariant, "panic: %v\n%s", v, debug.Stack())
	}
}

// fail records the first failure. Any goroutine may call it.
func (p *executor) fail(kind Kind, format string, args ...any) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.failure == nil {
		line := ""
		if p.line != nil {
			line = p.program.Line(p.line)
		}
		p.failure = &Failure{Kind: kind, Line: line, What: fmt.Sprintf(format, args...)}
	}
}

// failed reports whether a failure is recorded. Steps after it would compare nothing
// useful.
func (p *executor) failed() bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.failure != nil
}

// steps runs the steps until the first failure, or until ended returns an error.
func (p *executor) steps(ctx context.Context, ended func() error) {
	// A call that waits for its end would be a leaked goroutine.
	defer p.endLate()
	// The first mark is the empty store.
	p.mark(ctx, "")
	for i := range p.program.Steps {
		if p.failed() || ended() != nil {
			return
		}
		p.do(ctx, &p.program.Steps[i], nil)
	}
	// Failures from here on belong to no step.
	p.line = nil
	p.endLate()
	if !p.failed() {
		p.finish(ctx)
	}
}

// do runs one step, in the Frame of w unless w is nil.
func (p *executor) do(ctx context.Context, s *script.Step, w *store.Writer) {
	p.line = s
	p.step = p.order[s]
	// Other steps end the call, because the models could not predict its part in them.
	if !mayRunDuringCall(s.Op) && w == nil {
		p.endLate()
	}
	p.result.Operations++
	switch s.Op {
	case script.Each:
		p.each(ctx, s)
	case script.ForEach, script.ForEachRows, script.ForEachSparse:
		p.forEach(ctx, s, w != nil)
	case script.Queues:
		p.queues(s)
	case script.Inbox:
		p.inbox(s, w != nil)
	case script.Flush, script.FlushCancelled, script.FlushCancelPlan, script.FlushCancelLate:
		p.flush(ctx, s, w != nil)
		// The flush was the last step that a call may span.
		p.endLate()
	case script.Discard:
		p.discard()
	case script.Reduce:
		p.reduce(ctx, s.Table)
	case script.Read:
		p.read(ctx, s)
	case script.Write:
		p.write(ctx, s)
	case script.Checkpoint:
		p.checkpoint(ctx, s.Arg("as"))
	case script.Rollback:
		p.rollback(ctx, s.Arg("to"), s.Arg("saved") == 1)
	case script.AddColumn, script.AddSparse:
		p.addPart(ctx, s)
	case script.Misuse:
		p.misuse(ctx, s.Word)
	default:
		p.writeStep(ctx, s, w)
	}
}
