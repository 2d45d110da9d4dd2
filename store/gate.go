package store

import (
	"context"
	"fmt"
	"runtime/trace"
	"slices"
	"strconv"
	"sync/atomic"

	"handloom/internal/check"
)

// operation is the kind of a phase or call.
type operation int

const (
	opRead operation = iota
	opReduce
	opInspect
	opForEach
	opForEachRows
	opEach
	opDo
	opEraseFunc
	opOrphans
	opGroupBy
	opFold
	opFlush
	opCheckpoint
	opRollback
	opFrame
	opWrite
	opRun
	opSystem
	opClose
	opDiscard
	opQueues
	opSubmit
	opAfterFlush
	opSortFunc
	opSortByKey
	opDefragment
	opShrink
	opClaim
	opUnseal
	opExchange
)

// operations has the properties of each operation. These phases join others:
//
//	outer                joined by
//	Read                 Reduce, Digest, Verify
//	Frame                these, and ForEach, ForEachRows, Each, Do, EraseFunc, EraseOrphans,
//	                     GroupBy, Fold, Exchange, Flush, Checkpoint, Rollback, Run, the
//	                     orderings of tables, Shrink, Unseal of a claim
//	Run                  its own flushes
//	system of a Run      ForEach, ForEachRows, Each, Do, EraseFunc, EraseOrphans, GroupBy,
//	                     Fold, Reduce, Exchange
//	task of a pass       Reduce, which runs inline
//	anything else        nothing
var operations = [...]struct {
	name         string
	shared       bool        // only reads; any number of them hold the gate together
	joins        []operation // phases that it may run inside
	givesContext bool        // passes its context to functions of the caller
}{
	opRead:        {name: "Read", shared: true, givesContext: true},
	opReduce:      {name: "Reduce", shared: true, joins: []operation{opRead, opFrame, opSystem, opForEach, opForEachRows, opEach, opDo}},
	opInspect:     {name: "Digest or Verify", shared: true, joins: []operation{opRead, opFrame}},
	opForEach:     {name: "ForEach", givesContext: true, joins: []operation{opFrame, opSystem}},
	opForEachRows: {name: "ForEachRows", givesContext: true, joins: []operation{opFrame, opSystem}},
	opExchange:    {name: "Exchange", joins: []operation{opFrame, opSystem}},
	opEach:        {name: "Each", givesContext: true, joins: []operation{opFrame, opSystem}},
	opDo:          {name: "Do", givesContext: true, joins: []operation{opFrame, opSystem}},
	opEraseFunc:   {name: "EraseFunc", joins: []operation{opFrame, opSystem}},
	opOrphans:     {name: "EraseOrphans", joins: []operation{opFrame, opSystem}},
	opGroupBy:     {name: "GroupBy", joins: []operation{opFrame, opSystem}},
	opFold:        {name: "Fold", joins: []operation{opFrame, opSystem}},
	opFlush:       {name: "Flush", joins: []operation{opFrame, opRun}},
	opCheckpoint:  {name: "Checkpoint", joins: []operation{opFrame}},
	opRollback:    {name: "Rollback", joins: []operation{opFrame}},
	opFrame:       {name: "Frame", givesContext: true},
	opWrite:       {name: "Write"},
	opRun:         {name: "Run", joins: []operation{opFrame}},
	opSystem:      {name: "a system", givesContext: true},
	opClose:       {name: "Close"},
	opDiscard:     {name: "Discard"},
	opQueues:      {name: "Queues"},
	opSubmit:      {name: "Submit"},
	opAfterFlush:  {name: "Options.AfterFlush"},
	opSortFunc:    {name: "SortFunc", joins: []operation{opFrame}},
	opSortByKey:   {name: "SortByKey", joins: []operation{opFrame}},
	opDefragment:  {name: "Defragment", joins: []operation{opFrame}},
	opShrink:      {name: "Shrink", joins: []operation{opFrame}},
	opClaim:       {name: "Claim"},
	opUnseal:      {name: "Unseal of a Claim", joins: []operation{opFrame}},
}

func (o operation) String() string { return operations[o].name }

func (o operation) shared() bool { return operations[o].shared }

func (o operation) joins(outer operation) bool { return slices.Contains(operations[o].joins, outer) }

// advice returns the fix for a call of o inside a phase of kind outer, which o cannot
// join.
func (o operation) advice(outer operation) string {
	joined := ""
	switch outer {
	case opRead:
		joined = "only Reduce, Digest, Verify, Snapshot and ReadCheckpoint join a Read"
	case opForEach, opForEachRows, opEach, opDo:
		joined = "only Reduce joins a task"
	case opSystem:
		joined = "only ForEach, ForEachRows, Each, Do, EraseFunc, EraseOrphans, GroupBy, Fold, Reduce and Exchange join a system"
	}
	switch {
	case o == opRead:
		return "lookups need no Read here"
	case o == opFlush && outer == opSystem:
		return "the schedule flushes the tables that systems name in Emits"
	case (o == opWrite || o == opFrame) && outer == opFrame:
		return "use the Writer of the outer Frame"
	case outer == opWrite && o.joins(opFrame):
		return "use a Frame instead of the Write"
	case joined != "":
		return fmt.Sprintf("%s; call it when %v has returned", joined, outer)
	}
	return fmt.Sprintf("call it when %v has returned", outer)
}

// phase is an open phase and its context; calls with that context join the phase.
type phase struct {
	context.Context
	store         *Store
	op            operation
	outer         *phase      // the phase it joined; nil: it holds the gate
	system        *system     // the system that runs in this phase, or nil
	writes        *table      // the table whose items a ForEach writes
	writesColumns *table      // the table whose columns a ForEachRows writes
	writesSparse  *sparseData // the sparse data that a ForEach writes
	frame         *frame
	busy          atomic.Bool // another phase has joined this Write or system
	ended         atomic.Bool
}

// phaseKey is the context key of the phase of one store.
type phaseKey struct{ store *Store }

// Value returns the phase for its key, and the labels of a system.
func (p *phase) Value(key any) any {
	if k, ok := key.(phaseKey); ok && k.store == p.store {
		return p
	}
	if p.system != nil {
		if value := p.system.labels.Value(key); value != nil {
			return value
		}
	}
	return p.Context.Value(key)
}

// GoroutineLabels returns the labels of the system around the phase, or nil. The workers
// of package tasks call it.
func (p *phase) GoroutineLabels() *check.Labels {
	if y := p.systemOf(); y != nil {
		return y.labels
	}
	return nil
}

func (s *Store) phaseOf(ctx context.Context) *phase {
	p, _ := ctx.Value(phaseKey{s}).(*phase)
	return p
}

// enter joins the phase of ctx or, without one, waits at the gate. Each successful enter
// needs one leave.
func (s *Store) enter(ctx context.Context, op operation) (*phase, error) {
	p := new(phase)
	return p, p.enter(ctx, s, op)
}

// enter is [Store.enter] for a phase that is part of another struct.
func (p *phase) enter(ctx context.Context, s *Store, op operation) error {
	if s == nil || s.batch == nil || ctx == nil {
		s.notGiven(op.String())
	}
	p.Context, p.store, p.op, p.outer = ctx, s, op, s.phaseOf(ctx)
	return p.open()
}

// given panics on a nil or zero Store, or a nil context.
func (s *Store) given(ctx context.Context, call string) {
	if s == nil || s.batch == nil || ctx == nil {
		s.notGiven(call)
	}
}

func (s *Store) notGiven(call string) {
	s.made(call)
	check.Given(false, "store: "+call, "context")
}

// made panics on a nil or zero Store.
func (s *Store) made(call string) {
	if s == nil || s.batch == nil {
		panic(fmt.Sprintf("store: %s of a nil or zero Store; use one that New made", call))
	}
}

// open begins the phase, whose op and outer are set.
func (p *phase) open() (err error) {
	if p.outer != nil {
		err = p.join()
	} else {
		err = p.acquire()
	}
	if check.Full && err == nil {
		p.store.goroutines.enter(p)
	}
	if p.store.probe != nil && err == nil {
		p.store.probe.opened(p)
	}
	return err
}

// acquire takes the gate, and returns it when the store is unusable.
func (p *phase) acquire() error {
	if err := p.refused(); err != nil {
		return err
	}
	if err := p.wait(); err != nil {
		return err
	}
	err := p.store.usable(p.op)
	if err == nil {
		err = p.refused() // by a claim made meanwhile
	}
	if err != nil {
		p.store.gate.release(p.op.shared())
	}
	return err
}

func (p *phase) wait() error {
	gate := &p.store.gate
	if p.store.flush.reporting.Load() != nil {
		if err := p.refusedAfterFlush(); err != nil {
			return err
		}
	}
	if check.Full && p.Err() == nil {
		if gate.tryAcquire(p.op.shared()) {
			return nil
		}
		if err := p.store.goroutines.waits(p); err != nil {
			return err
		}
	}
	if !gate.acquire(p.Context, p.op.shared()) {
		return fmt.Errorf("store: %v did not begin before its context ended: %w; inside a phase use the phase's context",
			p.op, context.Cause(p.Context))
	}
	return nil
}

// usable returns an error if the store is closed or broken. The caller holds the gate.
func (s *Store) usable(op operation) error {
	switch {
	case s.closed:
		return fmt.Errorf("store: %v: %w", op, ErrClosed)
	case s.broken && op != opClose:
		return fmt.Errorf("store: %v: %w by an earlier flush", op, ErrBroken)
	}
	return nil
}

func (p *phase) join() error {
	outer := p.outer
	switch {
	case outer.ended.Load():
		return fmt.Errorf("store: %v: %w: its %v has ended; use the context of the current phase",
			p.op, ErrPhase, outer.op)
	case !p.op.joins(outer.op):
		return fmt.Errorf("store: %v inside %v: %w; %s", p.op, outer.op, ErrPhase, p.op.advice(outer.op))
	case p.op == opRollback && !p.mayRollBack():
		return fmt.Errorf("store: Rollback or Load inside a tick: %w; the log would no longer lead to the state", ErrPhase)
	case outer.isExclusive() && !outer.busy.CompareAndSwap(false, true):
		return fmt.Errorf("store: %v while another pass or flush runs in the same %v: %w; run them one after another",
			p.op, outer.op, ErrPhase)
	}
	if err := p.store.usable(p.op); err != nil { // a flush may have broken the store since the gate was passed
		p.release()
		return err
	}
	return nil
}

// leave ends the phase, on the goroutine that began it.
func (p *phase) leave() {
	if check.Full {
		p.store.goroutines.leave()
	}
	p.release()
}

func (p *phase) release() {
	if p.store.probe != nil {
		p.store.probe.released(p)
	}
	p.ended.Store(true)
	switch {
	case p.outer == nil:
		p.store.gate.release(p.op.shared())
	case p.outer.isExclusive():
		p.outer.busy.Store(false)
	}
}

// isExclusive reports whether phases join p only one at a time.
func (p *phase) isExclusive() bool { return p.op == opFrame || p.op == opSystem }

// inline reports whether the phase runs inside a task, so that its worker must do all
// work alone.
func (p *phase) inline() bool {
	return p.outer != nil && p.outer.op != opRead && !p.outer.isExclusive()
}

// Read holds a read-only phase open while fn runs. Any number of reads hold the gate
// together. Lookups and iteration are safe inside, from any goroutine that fn starts and
// waits for. Only Reduce, Digest, Verify, [Store.Snapshot] and [Store.ReadCheckpoint]
// join it, through fn's context. Read returns the error of fn, or the cause of ctx when
// that ends before the gate opens.
func (s *Store) Read(ctx context.Context, fn func(ctx context.Context) error) error {
	check.Given(fn != nil, "store: Read", "function")
	p, err := s.enter(ctx, opRead)
	if err != nil {
		return err
	}
	defer p.leave()
	defer p.trace("").end()
	if check.Full {
		defer s.watch(p)()
	}
	return fn(p)
}

// region is work that an execution trace shows on its goroutine (go tool trace,
// user-defined regions). The zero region shows nothing; without a trace there are only
// zero regions.
//
//	store: ForEach particle     a phase, on the caller's goroutine
//	store: Flush                the same
//	store: plan                 a step of a flush, on the caller's goroutine
//	store: apply particle/3     a step on one shard (0 is the first) of a table,
//	                            on its worker
//
// Regions of one goroutine nest. They belong to the trace task of the caller's context.
type region struct{ traced *trace.Region }

func (r region) end() {
	if r.traced != nil {
		r.traced.End()
	}
}

// trace begins the region of a phase, over a table or "". It inlines, and costs a load
// and a branch without a trace (op=trace).
func (p *phase) trace(table string) region {
	if trace.IsEnabled() {
		return beginPhase(p, table)
	}
	return region{}
}

//go:noinline
func beginPhase(p *phase, table string) region { return begin(p, p.op.String(), table) }

func traceStep(ctx context.Context, step string) region {
	if trace.IsEnabled() {
		return begin(ctx, step, "")
	}
	return region{}
}

func traceShard(ctx context.Context, step string, w *shardWork) region {
	return begin(ctx, step, w.table.name+"/"+strconv.Itoa(w.index))
}

func begin(ctx context.Context, what, object string) region {
	name := "store: " + what
	if object != "" {
		name += " " + object
	}
	return region{trace.StartRegion(ctx, name)}
}
