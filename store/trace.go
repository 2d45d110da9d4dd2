package store

import (
	"context"
	"runtime/trace"
	"strconv"
)

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
