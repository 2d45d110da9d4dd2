package history

import (
	"context"
	"fmt"
	"reflect"

	"handloom/internal/check"
	"handloom/internal/entrance"
	"handloom/store"
)

// Changes returns the changes of an item in the ticks from from to to, both included, oldest first.
// field is a field of the item such as "Pos.X", a column or sparse data by its name, or a field of
// one such as "hull.Left"; "" is the item with all its columns and sparse data. Elements of arrays
// have numbers: "Slots.3".
//
// The item is compared at each boundary: when a phase that is not shared opens or ends, when a task
// of a pass or a system ends, before an operation of a Writer, and when a flush has applied its
// commands. Two writes between two boundaries are one change. Values that pointers lead to, the
// order of rows, and free slots are not compared.
//
// Changes plays the ticks with one worker, and ticks with changes once more to find the lines. It
// returns the errors of [History.Seek], [ErrImpure] if two plays of a tick have different changes,
// and an error if no table has such an item, the item does not exist in these ticks, or the field is
// unknown; that one lists the fields. Changes before an error of a tick are returned with the error.
func (h *History) Changes(ctx context.Context, id store.ID, field string, from, to uint64) ([]Change, error) {
	check.Given(ctx != nil, "history: Changes", "context")
	if from > to || from == 0 {
		return nil, fmt.Errorf("history: Changes: got ticks %d to %d, want the first at least 1 and not after the last", from, to)
	}
	w := watch{h, id, field}
	found, lives, err := w.play(ctx, from, to)
	if err != nil && len(found) == 0 {
		return nil, err
	}
	if len(found) == 0 && !lives {
		return nil, fmt.Errorf("history: Changes: item %v does not exist in ticks %d to %d", id, from, to)
	}
	var all []Change
	for _, t := range found {
		if err := w.locate(ctx, t); err != nil {
			return all, err
		}
		all = append(all, t.all(id)...)
	}
	return all, err
}

// Why returns the last change of an item at or before a tick; id and field are as for
// [History.Changes]. It plays as many ticks before it as the change is back, at most four times.
//
// The errors are the errors of Changes. If the log does not keep the tick of the change, the error wraps
// [ErrRange], and has the first tick that it keeps. It is [ErrImpure], with table and shard, if two
// plays of the tick of the change lead to two states.
func (h *History) Why(ctx context.Context, id store.ID, field string, tick uint64) (Change, error) {
	check.Given(ctx != nil, "history: Why", "context")
	sp, err := h.spanOf(tick, tick)
	if err != nil {
		return Change{}, err
	}
	w := watch{h, id, field}
	// Windows that double, so that a change d ticks back costs at most four times d.
	for to, n := tick, uint64(16); to > sp.First; n *= 2 {
		from := sp.First + 1
		if to-sp.First > n {
			from = to - n + 1
		}
		found, _, err := w.play(ctx, from, to)
		if err != nil {
			return Change{}, err
		}
		if len(found) > 0 {
			return w.last(ctx, found[len(found)-1])
		}
		to = from - 1
	}
	_, probe, err := w.begin(ctx, sp.First+1)
	if err != nil {
		return Change{}, err
	}
	defer probe.Close()
	if probe.Lives() {
		return Change{}, fmt.Errorf("history: Why: item %v is unchanged since tick %d, where the log begins with Init or a snapshot: %w, nearest %d", id, sp.First, ErrRange, sp.First+1)
	}
	return Change{}, fmt.Errorf("history: Why: item %v does not exist in ticks %d to %d", id, sp.First, tick)
}

// A watch finds changes of one item.
type watch struct {
	*History
	id    store.ID
	field string
}

// tickChanges are the changes of a tick.
type tickChanges struct {
	tick    uint64
	changes []entrance.Change
}

func (t *tickChanges) all(id store.ID) (all []Change) {
	for i := range t.changes {
		all = append(all, changeOf(t.tick, id, &t.changes[i]))
	}
	return all
}

// begin moves the cursor to the state before a tick and begins to watch.
func (w *watch) begin(ctx context.Context, tick uint64) (*player, entrance.Probe, error) {
	p, err := w.seek(ctx, tick-1, tick)
	if err != nil {
		return nil, nil, err
	}
	// A probe is of a store, and a seek may have made another one.
	probe, err := p.store.Entrance(entrance.Key{}).NewProbe()
	if err != nil {
		return nil, nil, fmt.Errorf("history: %w", err)
	}
	if err := probe.Watch(uint64(w.id), w.field); err != nil {
		probe.Close()
		return nil, nil, watchError{fmt.Errorf("history: %w", err)}
	}
	return p, probe, nil
}

// A watchError means that no table has such an item or field.
type watchError struct{ error }

func (e watchError) Unwrap() error { return e.error }

// play plays ticks and returns their changes, and whether the item existed at the beginning or the
// end.
func (w *watch) play(ctx context.Context, from, to uint64) (found []tickChanges, lives bool, err error) {
	p, probe, err := w.begin(ctx, from)
	if err != nil {
		return nil, false, err
	}
	defer probe.Close()
	if _, err := w.spanOf(to, to); err != nil {
		return nil, false, err
	}
	lives = probe.Lives()
	// The probe sees the player alone, so the ticks are played here and not by seek, which could
	// return to a checkpoint.
	for p.tick.Number < to {
		if err := p.next(ctx); err != nil {
			return found, true, err
		}
		if changes := probe.Take(); len(changes) > 0 {
			found = append(found, tickChanges{p.tick.Number, changes})
		}
	}
	return found, lives || probe.Lives(), nil
}

// locate plays a tick again to find the lines of its changes.
func (w *watch) locate(ctx context.Context, t tickChanges) error {
	p, probe, err := w.begin(ctx, t.tick)
	if err != nil {
		return err
	}
	defer probe.Close()
	var causes []*entrance.Cause
	for i := range t.changes {
		c := &t.changes[i]
		causes = append(causes, &c.By)
		for k := range c.Lost {
			causes = append(causes, &c.Lost[k])
		}
	}
	// Lines cost a stack trace per command, so only the second play takes them, of these causes.
	probe.Locate(causes)
	if err := p.next(ctx); err != nil {
		return err
	}
	again := tickChanges{t.tick, probe.Take()}
	if !reflect.DeepEqual(plain(again, w.id), plain(t, w.id)) {
		return fmt.Errorf("history: tick %d: %w: item %v", t.tick, ErrImpure, w.id)
	}
	return nil
}

// plain returns changes without lines.
func plain(t tickChanges, id store.ID) []Change {
	all := t.all(id)
	for i := range all {
		by := &all[i].By
		by.Where = ""
		for k := range by.Lost {
			by.Lost[k].Where = ""
		}
	}
	return all
}

// last returns the last change of a tick. It compares the states after two plays.
func (w *watch) last(ctx context.Context, t tickChanges) (Change, error) {
	var states [2]state
	for i := range states {
		if i == 1 {
			if err := w.locate(ctx, t); err != nil {
				return Change{}, err
			}
		} else if _, err := w.seek(ctx, t.tick, t.tick); err != nil {
			return Change{}, err
		}
		states[i] = stateOf(w.cursor)
	}
	if err := compare(states[0], states[1]); err != nil {
		return Change{}, err
	}
	all := t.all(w.id)
	return all[len(all)-1], nil
}
