package store

import (
	"context"
	"runtime/trace"
	"strconv"
)

// region is a stretch of work that an execution trace shows on the goroutine
// that does it (go tool trace, user-defined regions). The zero region shows
// nothing and costs nothing; there is no other while no trace is taken.
//
//	store: ForEach particle     a phase, on the caller's goroutine
//	store: Flush                likewise
//	store: plan                 a step of a flush, likewise
//	store: apply particle/3     what a step does to one shard (0 is the first) of a
//	                            table, on the worker that does it
//
// Regions of one goroutine nest: what begins last ends first. They belong to the
// trace task that the caller's context carries.
type region struct{ of *trace.Region }

// end ends the region, on the goroutine that began it.
func (r region) end() {
	if r.of != nil {
		r.of.End()
	}
}

// trace begins the region of a phase, over a table or "". It inlines, and costs a
// load and a branch while no trace is taken (op=trace).
func (p *phase) trace(table string) region {
	if trace.IsEnabled() {
		return beginPhase(p, table)
	}
	return region{}
}

//go:noinline
func beginPhase(p *phase, table string) region { return begin(p, p.op.String(), table) }

// traceStep begins the region of a step of a flush.
func traceStep(ctx context.Context, step string) region {
	if trace.IsEnabled() {
		return begin(ctx, step, "")
	}
	return region{}
}

// traceShard begins the region of what a step does to one shard, while a trace is taken.
func traceShard(ctx context.Context, step string, w *shardWork) region {
	return begin(ctx, step, w.table.name+"/"+strconv.Itoa(w.index))
}

func begin(ctx context.Context, what, of string) region {
	name := "store: " + what
	if of != "" {
		name += " " + of
	}
	return region{trace.StartRegion(ctx, name)}
}
