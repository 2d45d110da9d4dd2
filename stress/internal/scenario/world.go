package scenario

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"handloom/store"
)

const (
	tasks        = 16 // of the pass that creates; the same for any number of workers
	refreshEvery = 32 // ticks from one choice of known items to the next
	knownPerPart = 64 // items of each shard that are known
)

// world is a store and what one tick does to it.
type world struct {
	scenario *Scenario
	seed     uint64
	store    *store.Store
	tables   []table
	first    []uint16 // typeId of the first shard, by table
	plan     []planned
	choices  []choices // of this tick, by table

	tick   int
	known  *known
	shared atomic.Pointer[known] // what readers look up

	flushed  func(time.Duration, *store.Report) // after the flush of every tick
	now      func() time.Time
	creating func(ctx context.Context, task int, q store.Queue) error // bound once
}

// planned is a pass and its table. Only the first over a table chooses items.
type planned struct {
	Pass
	table   int
	chooses bool
}

// known are some items that lived a while ago, by table: what readers look up
// and what comes through the inbox names. It does not change once it is shared.
type known struct{ ids [][]store.ID }

func newWorld(s *Scenario, workers int, seed uint64) (*world, error) {
	st, err := store.New(store.Options{Workers: workers})
	if err != nil {
		return nil, err
	}
	w := &world{scenario: s, seed: mix(seed + 1), store: st, now: time.Now, flushed: func(time.Duration, *store.Report) {}}
	next := 1
	for _, t := range s.Tables {
		made, err := register(st, t, next)
		if err != nil {
			return nil, err
		}
		w.tables, w.first = append(w.tables, made), append(w.first, uint16(next))
		next += t.Shards
	}
	w.choices = make([]choices, len(s.Tables))
	w.makePlan()
	w.creating = w.create
	w.share(&known{make([][]store.ID, len(s.Tables))})
	return w, nil
}

func (w *world) share(k *known) {
	w.known = k
	w.shared.Store(k)
}

// makePlan adds a pass over each table that has none and needs one.
func (w *world) makePlan() {
	seen := make(map[int]bool)
	add := func(p Pass) {
		i := w.scenario.table(p.Table)
		w.plan = append(w.plan, planned{p, i, !seen[i]})
		seen[i] = true
	}
	for _, p := range w.scenario.Passes {
		add(p)
	}
	for i, t := range w.scenario.Tables {
		if !seen[i] && t.Erases+t.Puts > 0 {
			add(Pass{Table: t.Name})
		}
	}
}

// fill creates the items that are there at the start.
func (w *world) fill(ctx context.Context) error {
	return w.store.Write(ctx, func(ctx context.Context, wr *store.Writer) error {
		err := w.store.Each(ctx, tasks, func(_ context.Context, task int, q store.Queue) error {
			for i, t := range w.scenario.Tables {
				w.createItems(q, i, task, part(t.Items, task), 0)
			}
			return nil
		})
		if err == nil {
			_, err = w.store.Flush(ctx)
		}
		w.refresh(wr)
		return err
	})
}

// part returns how many of n belong to a task.
func part(n, task int) int { return n*(task+1)/tasks - n*task/tasks }

// play runs the next tick. at, if not nil, is called with the loads of the
// shards when all is done but while the tick still holds the store.
func (w *world) play(ctx context.Context, at func(*store.Writer)) error {
	w.tick++
	return w.store.Write(ctx, func(ctx context.Context, wr *store.Writer) error {
		if err := w.run(ctx); err != nil {
			return fmt.Errorf("tick %d: %w", w.tick, err)
		}
		if w.tick%refreshEvery == 0 {
			w.refresh(wr)
		}
		if at != nil {
			at(wr)
		}
		return nil
	})
}

// run does what a tick does, see the package comment.
func (w *world) run(ctx context.Context) error {
	for i, t := range w.scenario.Tables {
		w.choices[i] = newChoices(t, w.first[i], w.tables[i].len(), mix(w.seed^uint64(w.tick)<<8^uint64(i)))
	}
	var none choices
	for _, p := range w.plan {
		c := &none
		if p.chooses {
			c = &w.choices[p.table]
		}
		if err := w.tables[p.table].pass(ctx, p.Pass, c); err != nil {
			return err
		}
	}
	if err := w.store.Each(ctx, tasks, w.creating); err != nil {
		return err
	}
	if err := w.receive(); err != nil {
		return err
	}
	began := w.now()
	report, err := w.store.Flush(ctx)
	if err == nil {
		w.flushed(w.now().Sub(began), report)
	}
	return err
}

// create records the creates of one task.
func (w *world) create(_ context.Context, task int, q store.Queue) error {
	for i, t := range w.scenario.Tables {
		n := t.Creates
		if t.MaxItems > 0 {
			n = min(n, max(t.MaxItems-w.tables[i].len(), 0))
		}
		w.createItems(q, i, task, part(n, task), part(min(t.Links, n), task))
	}
	return nil
}

// createItems records n creates in a table; the first of them but one, as many
// as links, name the one before.
func (w *world) createItems(q store.Queue, table, task, n, links int) {
	base := mix(w.seed ^ uint64(w.tick)<<16 ^ uint64(table)<<8 ^ uint64(task))
	var last store.ID
	for j := range n {
		h := head{Key: mix(base + uint64(j)), Born: uint32(w.tick)}
		if j <= links {
			h.Link = last
		}
		last = w.tables[table].create(q, h)
	}
}

// receive records what comes through the inbox.
func (w *world) receive() error {
	for i, t := range w.scenario.Tables {
		ids := w.known.ids[i]
		if len(ids) == 0 {
			continue
		}
		for j := range t.Inbox {
			id := ids[mix(w.choices[i].seed+uint64(j))%uint64(len(ids))]
			err := w.store.Inbox(func(q store.Queue) error {
				w.tables[i].putFor(q, id)
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// refresh chooses the items that are known from now on.
func (w *world) refresh(wr *store.Writer) {
	k := &known{make([][]store.ID, len(w.tables))}
	for i, t := range w.tables {
		t.shards(wr, func(_, _ int, ids iter.Seq[store.ID]) {
			n := 0
			for id := range ids {
				if n++; n > knownPerPart {
					break
				}
				k.ids[i] = append(k.ids[i], id)
			}
		})
	}
	w.share(k)
}
