package history

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"handloom/internal/check"
	"handloom/internal/entrance"
	"handloom/store"
	"handloom/world"
)

// First returns the first tick from from to to, both included, after which a check fails, and the
// error of the check, a [*store.PanicError] if it panicked; failed is nil if the check holds. It
// plays and checks every tick; up to Options.Stores stores share them, each from a snapshot on.
// If a tick before fails or cannot be played, err is the error of [History.Seek]. It is
// [world.ErrDiverged] beside tick and failed if the log soon has other digests: another build wrote it.
func (h *History) First(ctx context.Context, name string, from, to uint64) (tick world.Tick, failed, err error) {
	check.Given(ctx != nil, "history: First", "context")
	return h.first(ctx, name, from, to, false)
}

// first is First. If joined, it also compares the end of each part with the snapshot there.
func (h *History) first(ctx context.Context, name string, from, to uint64, joined bool) (tick world.Tick, failed, err error) {
	p, err := h.seekCheck(ctx, "First", name, from, to)
	if err != nil {
		return tick, nil, err
	}
	s := search{History: h, span: p.span, to: to, name: name, parts: p.span.parts(from, to), joined: joined}
	s.results = make([]result, len(s.parts))
	s.least.Store(int64(len(s.parts))) // no part has a result
	var others sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// The cursor is one of the stores, so that a search of one part needs no other.
	for range min(h.o.Stores, len(s.parts)) - 1 {
		others.Go(func() { s.work(ctx, nil) })
	}
	s.work(ctx, p)
	others.Wait()
	if i := s.least.Load(); i < int64(len(s.parts)) {
		r := s.results[i]
		return r.tick, r.failed, r.err
	}
	return tick, nil, nil
}

// seekCheck moves the cursor to tick from, whose range includes tick to.
func (h *History) seekCheck(ctx context.Context, op, name string, from, to uint64) (*player, error) {
	if from > to {
		return nil, fmt.Errorf("history: %s: got ticks %d to %d, want the first not after the last", op, from, to)
	}
	p, err := h.seek(ctx, from, to)
	if err != nil {
		return nil, err
	}
	if err := h.within(p.span, from, to); err != nil {
		return nil, err
	}
	if err := p.checks.has(name); err != nil {
		return nil, fmt.Errorf("history: %s: %w", op, err)
	}
	return p, nil
}

func (c Checks) has(name string) error {
	if c[name] == nil {
		return fmt.Errorf("got check %q, want one of %s", name, strings.Join(slices.Sorted(maps.Keys(c)), ", "))
	}
	return nil
}

// within returns an error if tick to is after a span that has tick from.
func (h *History) within(sp *span, from, to uint64) error {
	if to <= sp.Last {
		return nil
	}
	// If no span has the next tick, its error has the reason, such as a damaged record.
	if _, err := h.spanOf(sp.Last+1, to); err != nil {
		return err
	}
	return fmt.Errorf("history: tick %d: %w in one range with tick %d, nearest %d", to, ErrRange, from, sp.Last)
}

// run runs a check on the state of p.
func (p *player) run(name string) (err error) {
	// A check that panics fails: its state is as wrong as with an error.
	defer func() {
		if v := recover(); v != nil {
			err = &store.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return p.checks[name]()
}

// A part is ticks that one store plays, from a snapshot on.
type part struct {
	from, to uint64
	start    start
}

// parts splits ticks at snapshots. Each tick is in one part. The first part begins at a snapshot
// at or before tick from, and plays the ticks in between without a check.
func (s *span) parts(from, to uint64) []part {
	parts := []part{{from: from, start: s.before(from)}}
	for _, at := range s.starts {
		if at.tick > from && at.tick <= to {
			parts = append(parts, part{from: at.tick, start: at})
		}
	}
	for i := range parts {
		parts[i].to = to
		if i+1 < len(parts) {
			parts[i].to = parts[i+1].from - 1
		}
	}
	return parts
}

// A search runs a check after each tick of some parts. The first part with a result decides, in
// the order of ticks.
type search struct {
	*History
	span    *span
	to      uint64
	name    string
	parts   []part
	joined  bool // a part may not lead to another state than the snapshot of the next one
	results []result
	taken   atomic.Int64
	least   atomic.Int64 // the first part with a result
}

// A result is an error of the check, or of a tick.
type result struct {
	tick        world.Tick
	failed, err error
}

// work takes parts until none is left. p is the cursor, or nil.
func (s *search) work(ctx context.Context, p *player) {
	cursor := p != nil
	for {
		i := s.taken.Add(1) - 1
		// Parts are taken in order, so all later ones are after the part with a result, too.
		if i >= s.least.Load() {
			break
		}
		r := &s.results[i]
		// A store takes as much memory as the state, so a goroutine without a part makes none.
		if p == nil {
			p, r.err = s.newPlayer(ctx, s.span, 1)
		}
		if r.err == nil {
			*r = s.scan(ctx, p, i, cursor)
		}
		if r.err != nil || r.failed != nil {
			// The lowest part decides, whatever the order of results.
			for old := s.least.Load(); i < old && !s.least.CompareAndSwap(old, i); old = s.least.Load() {
			}
		}
	}
	if !cursor && p != nil {
		p.Close()
	}
}

// scan checks the ticks of a part, until an earlier part has a result.
func (s *search) scan(ctx context.Context, p *player, i int64, cursor bool) (r result) {
	part := s.parts[i]
	goTo := func(tick uint64) error {
		// The cursor keeps checkpoints for the questions that follow; other stores only play.
		if cursor {
			_, err := s.seek(ctx, tick, s.to)
			return err
		}
		for p.tick.Number < tick {
			if err := p.next(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	if !cursor {
		if r.err = p.start(ctx, part.start.at); r.err != nil {
			return r
		}
	}
	r.err = p.store.Team(ctx, func(ctx context.Context) error {
		// A part before this one may get a result meanwhile: then this one cannot decide.
		for tick := part.from; tick <= part.to && i <= s.least.Load(); tick++ {
			if err := goTo(tick); err != nil {
				return err
			}
			if err := p.run(s.name); err != nil {
				r.tick, r.failed = p.tick, err
				return p.confirm(ctx)
			}
		}
		if !s.joined || i+1 == int64(len(s.parts)) || i > s.least.Load() {
			return nil
		}
		next := s.parts[i+1]
		if err := goTo(next.from); err != nil {
			return err
		}
		// The records have digests of some shards each, so the last ones before a snapshot may miss
		// a difference. The snapshot has all shards; after a damaged one this is the state of an older tick.
		played := stateOf(p)
		if err := p.start(ctx, next.start.at); err != nil {
			return err
		}
		if place := difference(played, stateOf(p)); place != "" && p.tick.Number == next.from {
			return &world.DivergedError{Tick: next.from, At: next.start.at, Place: place}
		}
		return nil
	})
	return r
}

// confirm plays a round of digests after a tick that was found, and returns an error if the records there have other
// digests. Then another build wrote the log, and its world may never have had the state that was found.
func (h *History) confirm(ctx context.Context, tick uint64) error {
	p, err := h.seek(ctx, tick, tick)
	if err != nil {
		return err
	}
	return p.confirm(ctx)
}

func (p *player) confirm(ctx context.Context) (err error) {
	for i := p.Entrance(entrance.Key{}).Round(); i > 0 && err == nil; i-- {
		err = p.next(ctx)
	}
	if errors.Is(err, world.ErrDiverged) || ctx.Err() != nil {
		return err
	}
	return nil // also if the log ends, or a tick fails
}

// Turn returns a tick after which a check fails, while the check holds after the tick before. It
// bisects the ticks from from to to, with a play and a check for each try. The result is the first
// such tick if the check never holds again once it fails, tick from if it fails there, and empty
// if it holds after tick to. It returns the errors of [History.First].
func (h *History) Turn(ctx context.Context, name string, from, to uint64) (tick world.Tick, failed, err error) {
	check.Given(ctx != nil, "history: Turn", "context")
	p, err := h.seekCheck(ctx, "Turn", name, from, to)
	if err != nil {
		return tick, nil, err
	}
	try := func(tick uint64) result {
		p, err := h.seek(ctx, tick, to)
		if err != nil {
			return result{err: err}
		}
		return result{tick: p.tick, failed: p.run(name)}
	}
	found := try(to)
	if found.failed == nil {
		return tick, nil, found.err
	}
	// Snapshots first: their states need no play.
	var tries []uint64
	for _, s := range p.span.parts(from, to)[1:] {
		tries = append(tries, s.from)
	}
	// At most one try for each halving of the ticks, and one for each halving of the snapshots.
	for low, high := from, to; low < high; {
		middle := low + (high-low)/2
		if tries = slices.DeleteFunc(tries, func(t uint64) bool { return t < low || t >= high }); len(tries) > 0 {
			middle = tries[len(tries)/2]
		}
		// The check holds before low and fails after high.
		switch r := try(middle); {
		case r.err != nil:
			return tick, nil, r.err
		case r.failed != nil:
			found, high = r, middle
		default:
			low = middle + 1
		}
	}
	return found.tick, found.failed, h.confirm(ctx, found.tick.Number)
}
