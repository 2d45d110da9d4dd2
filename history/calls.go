package history

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"handloom/internal/check"
	"handloom/internal/hook"
	"handloom/store"
)

// ErrFixed means that a change comes without any call that the log keeps: the state and the ticks
// make it.
var ErrFixed = errors.New("the change needs no call")

// Calls returns the fewest calls found without which a change of [History.Changes] or [History.Why]
// would not be, in order. It leaves out all calls of the last tick, then of the last 2, 4, 8 and so
// on, until the change does not come. Then it puts as few of them back as it can: without any one
// of the result, and without the other calls of these ticks, the change does not come. Number, Seed
// and Time of the ticks stay.
//
// The change comes if the same tick changes the item, or the item of the same create, from and to
// the same values, by the same kind of command or write, in the same system, and by the same call
// if it is by a call. A handle in a call that an earlier of these ticks created leads to the item
// of the same create, or to none.
//
// Calls plays the ticks with one worker, once for each try; n calls need about n tries, or few if
// the result is small. It returns [ErrFixed] if the change comes without all calls since the first
// tick of the range, errors of [History.Why], and an error if the log does not lead to the change,
// or if a Writer inserted an item after which a call asks: such an item has no name in other plays.
func (h *History) Calls(ctx context.Context, c Change) ([]Call, error) {
	check.Given(ctx != nil, "history: Calls", "context")
	sp, err := h.spanOf(c.Tick, c.Tick)
	if err != nil {
		return nil, err
	}
	if c.Tick == sp.First {
		return nil, fmt.Errorf("history: Calls: tick %d: %w, nearest %d", c.Tick, ErrRange, c.Tick+1)
	}
	for n := uint64(1); ; n *= 2 {
		from := sp.First
		if c.Tick-sp.First > n {
			from = c.Tick - n
		}
		calls, err := h.callsSince(ctx, c, from)
		if err != nil || len(calls) > 0 {
			return calls, err
		}
		if from == sp.First {
			return nil, fmt.Errorf("history: Calls: %w of ticks %d to %d", ErrFixed, from+1, c.Tick)
		}
	}
}

// callsSince returns the calls after tick from that the change needs, or none.
func (h *History) callsSince(ctx context.Context, c Change, from uint64) (needed []Call, err error) {
	s, err := h.newStage(ctx, from, c.Tick)
	if err != nil {
		return nil, err
	}
	defer s.leave(ctx)
	probe, err := hook.NewProbe(s.store)
	if err != nil {
		return nil, fmt.Errorf("history: Calls: %w", err)
	}
	defer probe.Close()
	t := trials{stage: s, probe: probe, want: c}
	calls := s.all()
	if err := t.begin(ctx, len(calls) > 0); err != nil || len(calls) == 0 {
		return nil, err
	}
	if comes, err := t.comes(ctx, nil); err != nil || comes {
		return nil, err
	}
	calls, err = reduce(calls, func(some []callIndex) (bool, error) { return t.comes(ctx, some) })
	for _, at := range calls {
		needed = append(needed, Call{s.ticks[at.tick].Number, at.call + 1})
	}
	return needed, err
}

// trials play a stage with some of its calls, and look for a change.
type trials struct {
	*stage
	probe hook.Probe
	want  Change
	base  births // with all calls
}

// A trial is one play of a stage.
type trial struct {
	*trials
	born  births
	first map[store.ID]bool // items of calls that live at the beginning; nil after the first play
}

// begin plays all calls, and names the items that the ticks create.
func (t *trials) begin(ctx context.Context, changes bool) error {
	p := trial{trials: t, born: newBirths()}
	if err := t.back(ctx, &t.from); err != nil {
		return err
	}
	if changes {
		p.lookAround()
	}
	found, err := p.play(ctx, t.all(), changes)
	if err != nil {
		return err
	}
	t.base = p.born
	if !changes {
		return nil
	}
	for i := range found {
		if plainChange(changeOf(t.want.Tick, t.want.Item, &found[i])) == plainChange(t.want) {
			return nil
		}
	}
	return fmt.Errorf("history: Calls: the log does not lead to the change: %v", t.want)
}

// plainChange returns the text of a change without its line.
func plainChange(c Change) string {
	c.By.Where = ""
	return c.String()
}

// comes reports whether the change comes with some of the calls.
func (t *trials) comes(ctx context.Context, some []callIndex) (bool, error) {
	p := trial{trials: t, born: newBirths()}
	if err := t.back(ctx, &t.from); err != nil {
		return false, err
	}
	found, err := p.play(ctx, some, true)
	for i := range found {
		if p.isWanted(&found[i], some) {
			return true, err
		}
	}
	return false, err
}

// lookAround notes the items of the calls that live.
func (t *trial) lookAround() {
	t.first = map[store.ID]bool{}
	note := func(id store.ID) store.ID {
		t.first[id] = t.lives(id)
		return id
	}
	note(t.want.Item)
	for _, tick := range t.ticks {
		for _, call := range tick.calls {
			replaced(call, note)
		}
	}
}

func (t *trial) lives(id store.ID) bool {
	return !id.IsZero() && !id.IsProvisional() && t.probe.Watch(uint64(id), "") == nil && t.probe.Lives()
}

// play plays the stage, and returns the changes of its last tick if that does not fail.
func (t *trial) play(ctx context.Context, some []callIndex, watch bool) (found []hook.Change, err error) {
	for i, tick := range t.ticks {
		in := tickBirths{births: &t.born, stage: t.stage, tick: tick.Number}
		for ; len(some) > 0 && some[0].tick == i; some = some[1:] {
			call, err := t.translated(tick.calls[some[0].call], tick.Number)
			if err != nil {
				return nil, err
			}
			in.calls, in.numbers = append(in.calls, call), append(in.numbers, some[0].call+1)
		}
		t.probe.Births(in.found)
		if i == len(t.ticks)-1 && watch {
			return t.watched(ctx, tick, in.calls)
		}
		if ok, err := t.run(ctx, tick.Tick, in.calls); !ok {
			return nil, err
		}
	}
	return nil, nil
}

// watched plays the last tick. An item of this tick has a handle only after a first play.
func (t *trial) watched(ctx context.Context, tick stageTick, calls [][]hook.Command) ([]hook.Change, error) {
	id := t.want.Item
	if t.first != nil {
		if err := t.named(id, tick.Number); err != nil {
			return nil, err
		}
	} else if name, ok := t.base.names[id]; ok {
		if name.tick == tick.Number {
			before := moment{}
			if err := t.Save(ctx, &before.state); err != nil {
				return nil, err
			}
			if ok, err := t.run(ctx, tick.Tick, calls); !ok {
				return nil, err
			}
			if err := t.back(ctx, &before); err != nil {
				return nil, err
			}
		}
		if id, ok = t.born.ids[name]; !ok {
			return nil, nil
		}
	}
	if err := t.probe.Watch(uint64(id), t.want.Field); err != nil {
		return nil, fmt.Errorf("history: Calls: %w", err)
	}
	if ok, err := t.run(ctx, tick.Tick, calls); !ok {
		return nil, err
	}
	if _, named := t.born.names[id]; t.first != nil && !t.first[id] && !named && t.probe.Lives() {
		return nil, errUnnamed(id, tick.Number)
	}
	return t.probe.Take(), nil
}

// translated returns a call with the handles of this play.
func (t *trial) translated(call []hook.Command, tick uint64) (all []hook.Command, err error) {
	return replaced(call, func(id store.ID) store.ID {
		if t.first != nil {
			if unnamed := t.named(id, tick); unnamed != nil {
				err = unnamed
			}
			return id
		}
		name, ok := t.base.names[id]
		if !ok {
			return id
		}
		if now, ok := t.born.ids[name]; ok {
			return now
		}
		return stale(id)
	}), err
}

// freeBit marks the number of a create, as in [hook.Command].
const freeBit = 1 << 63

// stale returns a handle of no item, of the same table.
func stale(id store.ID) store.ID { return freeBit | id>>48<<48 }

// named returns an error if an item of the first play has no name.
func (t *trial) named(id store.ID, tick uint64) error {
	if _, ok := t.born.names[id]; ok || t.first[id] || !t.lives(id) {
		return nil
	}
	return errUnnamed(id, tick)
}

func errUnnamed(id store.ID, tick uint64) error {
	return fmt.Errorf("history: Calls: got item %v of a Writer in the calls or the change of tick %d, want an item of a create", id, tick)
}

// replaced returns a call with other handles.
func replaced(call []hook.Command, to func(store.ID) store.ID) []hook.Command {
	all := make([]hook.Command, len(call))
	for i, c := range call {
		if c.ID != 0 {
			c.ID = uint64(to(store.ID(c.ID)))
		}
		c.Value = withIDs(c.Value, to)
		all[i] = c
	}
	return all
}

// isWanted reports whether a change of this play is the wanted one.
func (t *trial) isWanted(c *hook.Change, some []callIndex) bool {
	w := &t.want
	if c.Field != w.Field || t.inBase(c.From) != w.From || t.inBase(c.To) != w.To ||
		c.By.Kind != w.By.Kind || c.By.System != w.By.System || withoutNumbers(c.By.Phase) != withoutNumbers(w.By.Phase) {
		return false
	}
	number := 0
	if c.By.Call > 0 {
		for len(some) > 0 && some[0].tick < len(t.ticks)-1 {
			some = some[1:]
		}
		number = some[c.By.Call-1].call + 1
	}
	return number == w.By.Call.Number
}

var handles = regexp.MustCompile(`\b\d+:\d+\.\d+\b`)

// inBase returns a text of this play with the handles of the play with all calls.
func (t *trial) inBase(text string) string {
	return handles.ReplaceAllStringFunc(text, func(text string) string {
		id, err := store.ParseID(text)
		if err != nil {
			return text
		}
		if name, ok := t.born.names[id]; ok {
			if was, ok := t.base.ids[name]; ok {
				return was.String()
			}
		}
		return text
	})
}

var numbers = regexp.MustCompile(`\d+`)

// withoutNumbers returns the name of a phase: a flush without commands has no number.
func withoutNumbers(phase string) string { return numbers.ReplaceAllString(phase, "") }
