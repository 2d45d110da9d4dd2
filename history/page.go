package history

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"handloom/internal/hook"
	"handloom/store"
	"handloom/world"
)

// A page shows a History. Its requests use the History one after another: an answer that takes
// longer than patience begins with its progress, and its work ends with its request.
type page struct {
	*History
	name     string
	queue    chan struct{} // full while a request uses the History
	patience time.Duration

	mutex  sync.Mutex
	shown  uint64            // the last tick that was shown
	strips map[string]*strip // by check
	failed map[uint64]bool   // ticks that fail
}

func newPage(h *History, name string) *page {
	p := &page{
		History: h, name: name, queue: make(chan struct{}, 1), patience: 400 * time.Millisecond,
		strips: map[string]*strip{}, failed: map[uint64]bool{},
	}
	p.shown = p.newest()
	return p
}

// newest returns the last tick that the program can play.
func (p *page) newest() (tick uint64) {
	for i := range p.spans {
		if p.plays(&p.spans[i]) {
			tick = max(tick, p.spans[i].Last)
		}
	}
	return tick
}

// A view is the content of an answer.
type view struct {
	Query  query
	Status int
	Error  string
	Stack  string // of a panic

	Tick     world.Tick
	Played   bool // the state after the tick exists
	HasFirst bool // the state before the tick is kept
	Calls    [][]hook.Command
	Script   string // the tick as in a [Script], without calls after the first ones
	Checks   []verdict
	Scan     *scanned
	Tables   []tableCount
	Grids    []*grid
	Item     *itemView

	page *page
	lens lens
}

// A lens takes the content of a view from the states before and after the tick.
type lens interface {
	before(s *store.Store) // not called if the state is not kept
	after(s *store.Store)
	finish(ctx context.Context) error // may seek
}

// view computes an answer. No other request uses the History meanwhile.
func (p *page) view(ctx context.Context, q query) *view {
	v := &view{Query: q, Status: http.StatusOK, page: p}
	select {
	case p.queue <- struct{}{}:
		defer func() { <-p.queue }()
	case <-ctx.Done():
		v.fail(context.Cause(ctx))
		return v
	}
	p.played.Store(0)
	switch {
	case q.Item != 0:
		v.lens = &itemLens{view: v}
	case q.Table != "":
		v.lens = &tableLens{view: v}
	default:
		v.lens = &tickLens{view: v}
	}
	if err := v.fill(ctx); err != nil {
		v.fail(err)
	}
	return v
}

func (v *view) fill(ctx context.Context) error {
	if v.Query.Check != "" {
		if err := v.scan(ctx); err != nil {
			return err
		}
	}
	if err := v.visit(ctx); err != nil {
		return err
	}
	if err := v.lens.finish(ctx); err != nil {
		return err
	}
	v.page.mutex.Lock()
	defer v.page.mutex.Unlock()
	v.page.shown = v.Query.Tick
	return nil
}

// visit plays the tick.
func (v *view) visit(ctx context.Context) error {
	p, tick := v.page, v.Query.Tick
	sp, err := p.spanOf(tick, tick)
	if err != nil {
		return err
	}
	if v.HasFirst = tick > sp.First; v.HasFirst {
		cursor, err := p.seek(ctx, tick-1, tick)
		if err != nil {
			return err
		}
		if v.Calls, err = hook.NewDriver(cursor.Replayer).Input(ctx); err != nil {
			return fmt.Errorf("history: calls of tick %d: %w", tick, err)
		}
		v.lens.before(cursor.store)
	}
	s, at, err := p.Seek(ctx, tick)
	if err != nil {
		return err
	}
	v.Tick, v.Played = at, true
	if len(v.Calls) > 0 {
		text := appendTick(nil, hook.NewDriver(p.cursor.Replayer).Tables(), stageTick{at, v.Calls[:min(len(v.Calls), tickCalls)]})
		v.Script = cut(string(text), maxStack)
	}
	for _, name := range slices.Sorted(maps.Keys(p.cursor.checks)) {
		v.Checks = append(v.Checks, verdict{name, p.cursor.run(name)})
		p.noteCheck(name, tick, tick, v.Checks[len(v.Checks)-1].Err != nil)
	}
	v.lens.after(s)
	return nil
}

var errNotFound = errors.New("not found")

// fail makes v the answer of an error.
func (v *view) fail(err error) {
	v.Error, v.Status = err.Error(), http.StatusInternalServerError
	switch {
	case errors.Is(err, ErrRange), errors.Is(err, world.ErrVersion), errors.Is(err, errNotFound):
		v.Status = http.StatusNotFound
	case errors.Is(err, context.Canceled):
		v.Status = http.StatusServiceUnavailable
	}
	if failed, ok := errors.AsType[*world.TickError](err); ok {
		v.Status = http.StatusOK // the failure is part of the log
		v.noteFailed(failed.Tick)
	}
	if p, ok := errors.AsType[*store.PanicError](err); ok {
		v.Stack = cut(string(p.Stack), maxStack)
	}
}

// Nearest returns the nearest tick that can be played, for an answer without a state.
func (v *view) Nearest() (at uint64) {
	p, tick := v.page, v.Query.Tick
	var nearest *uint64
	for i := range p.spans {
		if sp := &p.spans[i]; p.plays(sp) {
			at := min(max(tick, sp.First), sp.Last)
			nearest = nearer(tick, nearest, &at)
		}
	}
	if nearest != nil {
		at = *nearest
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for at > 0 && p.failed[at] {
		at--
	}
	return at
}
