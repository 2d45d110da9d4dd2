package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"handloom/store"
)

// A comparison plays two programs side by side.
type comparison struct {
	pair
	Difference
}

// windowTicks are the ticks of one request. A program is at most two windows ahead.
const windowTicks = 256

// run finds the first difference. sums are of the state after tick From.
func (c *comparison) run(ctx context.Context, sums [2]uint64) error {
	last := c.To
	if sums[0] != sums[1] {
		c.To = c.From
		return c.explain(c.From, sums)
	}
	w, err := c.first(ctx, c.From, last, c.Every)
	if err != nil || w == nil {
		return err
	}
	if c.Every == 1 {
		return c.finish(w)
	}
	// A state between two that were hashed may differ, so each one is hashed.
	again, err := c.first(ctx, w.equal, w.upTo, 1)
	if err != nil {
		return err
	}
	if again == nil {
		return fmt.Errorf("ticks %d to %d: %w: the second play of old and new has no difference", w.equal+1, w.upTo, ErrImpure)
	}
	return c.finish(again)
}

// A window is the end of the equal states.
type window struct {
	equal   uint64 // the last tick with equal states
	upTo    uint64 // the tick with different states, or that fails
	differs bool
	sums    [2]uint64 // after tick upTo
	failed  [2]error  // of tick upTo
}

// first returns the first window whose states differ, or with a tick that fails. It returns nil if
// there is none.
func (c *comparison) first(ctx context.Context, from, to, every uint64) (*window, error) {
	ctx, stop := context.WithCancel(ctx)
	var players sync.WaitGroup
	defer players.Wait()
	defer stop()
	length := (windowTicks + every - 1) / every * every
	type played struct {
		reply
		err error
	}
	var sides [2]chan played
	for i, p := range c.pair {
		sides[i] = make(chan played, 1)
		players.Go(func() {
			for at := from; at < to; at += length {
				r, err := p.ask(request{Do: "run", From: at, To: min(at+length, to), Every: every})
				select {
				case sides[i] <- played{r, err}:
				case <-ctx.Done():
					return
				}
				if err != nil || r.Failed != nil || ctx.Err() != nil {
					return
				}
			}
		})
	}
	for at := from; at < to; at += length {
		var both [2]played
		for i := range both {
			select {
			case both[i] = <-sides[i]:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		if err := errors.Join(both[0].err, both[1].err); err != nil {
			return nil, err
		}
		if w := compareWindow(at, min(at+length, to), every, [2]*reply{&both[0].reply, &both[1].reply}); w != nil {
			return w, nil
		}
	}
	return nil, nil
}

// compareWindow compares the states between two ticks. It returns nil if all are equal.
func compareWindow(from, to, every uint64, r [2]*reply) *window {
	w := &window{equal: from}
	for k := range min(len(r[0].Sums), len(r[1].Sums)) {
		tick := min(from+uint64(k+1)*every, to)
		if a, b := r[0].Sums[k], r[1].Sums[k]; a != b {
			w.upTo, w.differs, w.sums = tick, true, [2]uint64{a, b}
			return w
		}
		w.equal = tick
	}
	for i := range r {
		if f := r[i].Failed; f != nil && (w.upTo == 0 || f.Tick <= w.upTo) {
			if f.Tick < w.upTo {
				w.failed = [2]error{}
			}
			w.upTo, w.failed[i] = f.Tick, f.Err
		}
	}
	if w.upTo == 0 {
		return nil
	}
	return w
}

// finish reports a window of a play that hashed each state.
func (c *comparison) finish(w *window) error {
	c.To = w.equal
	if w.differs {
		c.To = w.upTo
		return c.explain(w.upTo, w.sums)
	}
	c.Old.Err, c.New.Err = w.failed[0], w.failed[1]
	if w.failed[0] == nil || w.failed[1] == nil {
		c.Tick, c.Kind = w.upTo, "failure"
	}
	return nil
}

// explain finds the value that differs after a tick, and its changes.
func (c *comparison) explain(tick uint64, sums [2]uint64) error {
	c.Tick = tick
	states, err := c.ask(request{Do: "state", To: tick})
	if err != nil {
		return err
	}
	for i, p := range c.pair {
		if states[i].Sums[0] != sums[i] {
			return fmt.Errorf("%s: tick %d: %w", p, tick, ErrImpure)
		}
	}
	for i, t := range states[0].Tables[:min(len(states[0].Tables), len(states[1].Tables))] {
		if t.Sum == states[1].Tables[i].Sum {
			continue
		}
		found, err := c.compareTable(t.Name)
		if err != nil {
			return err
		}
		if found {
			return c.why()
		}
	}
	if c.Kind == "" {
		c.Kind = "flushes"
		c.Old.Value, c.New.Value = strconv.FormatUint(states[0].Epoch, 10), strconv.FormatUint(states[1].Epoch, 10)
	}
	return nil
}

// compareTable reports whether an item of a table differs, and notes the first one.
func (c *comparison) compareTable(table string) (found bool, err error) {
	replies, err := c.ask(request{Do: "rows", Table: table})
	if err != nil {
		return false, err
	}
	old, next := replies[0].rows(), replies[1].rows()
	ordered := len(old) == len(next)
	sums := make(map[store.ID]uint64, len(next))
	for i, r := range next {
		sums[r.id] = r.sum
		ordered = ordered && old[i].id == r.id
	}
	for _, r := range old {
		if sum, lives := sums[r.id]; !lives || sum != r.sum {
			return true, c.compareItem(table, r.id)
		}
		delete(sums, r.id)
	}
	for _, r := range next {
		if _, left := sums[r.id]; left {
			return true, c.compareItem(table, r.id)
		}
	}
	if c.Kind == "" {
		c.Table = table
		if c.Kind = "slots"; !ordered {
			c.Kind = "rows"
		}
	}
	return false, nil
}

// compareItem notes the first value of an item that differs.
func (c *comparison) compareItem(table string, id store.ID) error {
	replies, err := c.ask(request{Do: "item", Table: table, Item: id})
	if err != nil {
		return err
	}
	c.Table, c.Item, c.Kind = table, id, "value"
	old, next := replies[0].Leaves, replies[1].Leaves
	has := func(all []leaf, path string) bool {
		return slices.ContainsFunc(all, func(l leaf) bool { return l.Path == path })
	}
	for i := 0; i < len(old) || i < len(next); i++ {
		switch {
		case i == len(next) || i < len(old) && !has(next, old[i].Path):
			c.note(old[i].Path, old[i].Text, "")
		case i == len(old) || old[i].Path != next[i].Path:
			c.note(next[i].Path, "", next[i].Text)
		case old[i].Sum != next[i].Sum:
			c.Field, c.Old.Value, c.New.Value = old[i].Path, old[i].Text, next[i].Text
		default:
			continue
		}
		return nil
	}
	return fmt.Errorf("tick %d, %s %v: digests differ, but no field does", c.Tick, table, id)
}

func (c *comparison) note(path, old, next string) {
	c.Field, c.Old.Value, c.New.Value = path, old, next
	if c.Kind = "data"; path == "" {
		c.Kind = "item"
	}
}

// why asks both programs for the last change of the value.
func (c *comparison) why() error {
	replies, err := c.ask(request{Do: "why", To: c.Tick, Item: c.Item, Field: c.Field})
	if err != nil {
		return err
	}
	for i, s := range []*Side{&c.Old, &c.New} {
		s.Cause = replies[i].Change
		if reason := replies[i].NoChange; reason != nil {
			s.Err = reason
		}
	}
	return nil
}
