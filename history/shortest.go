package history

import (
	"bytes"
	"context"
	"fmt"

	"handloom/internal/check"
	"handloom/internal/entrance"
	"handloom/store"
)

// Shortest returns a script after which a check fails. It begins with the latest state for which the
// check holds, and has the calls and commands that a failure needs: without any one of them the
// check holds, or the tick fails. tick is a tick after which the check fails, as [History.First]
// returns it; if the check already fails before that tick, an earlier tick is taken.
//
// The state before the tick stays as it is. If an earlier tick made it wrong in a way that the check
// does not see, the script fails without that fault too: a check that sees it leads to that tick.
//
// Shortest returns the errors of [History.Turn], and an error if the check holds after the tick, or
// fails after every tick before it.
func (h *History) Shortest(ctx context.Context, name string, tick uint64) (*Script, error) {
	check.Given(ctx != nil, "history: Shortest", "context")
	p, err := h.seekCheck(ctx, "Shortest", name, tick, tick)
	if err != nil {
		return nil, err
	}
	if p.run(name) == nil {
		return nil, fmt.Errorf("history: Shortest: check %q holds after tick %d, want a tick after which it fails", name, tick)
	}
	if tick, err = h.turnBefore(ctx, name, p.span, tick); err != nil {
		return nil, err
	}
	s, err := h.newStage(ctx, tick)
	if err != nil {
		return nil, err
	}
	defer s.leave(ctx)
	return s.shorten(ctx, name)
}

// turnBefore returns the last tick up to tick before which the check holds and after which it fails.
func (h *History) turnBefore(ctx context.Context, name string, sp *span, tick uint64) (uint64, error) {
	// Distances that double: most checks turn shortly before the tick, and few states are looked at.
	for n := uint64(1); tick > sp.First; n *= 2 {
		from := sp.First
		if tick-sp.First > n {
			from = tick - n
		}
		p, err := h.seek(ctx, from, tick)
		if err != nil {
			return 0, err
		}
		if p.run(name) == nil {
			found, _, err := h.Turn(ctx, name, from, tick)
			return found.Number, err
		}
		if from == sp.First {
			break
		}
	}
	return 0, fmt.Errorf("history: Shortest: check %q fails after tick %d and before every later tick up to %d", name, sp.First, tick)
}

// A commandIndex is a command of the tick of a stage, by its call.
type commandIndex struct{ call, command int }

// shorten leaves calls and commands out as long as the check fails.
func (s *stage) shorten(ctx context.Context, name string) (*Script, error) {
	tick := s.logged
	fails := func(calls [][]entrance.Command) (bool, error) {
		if err := s.back(ctx, &s.from); err != nil {
			return false, err
		}
		ok, err := s.run(ctx, calls)
		return ok && s.player.run(name) != nil, err
	}
	// The first try has all calls: without it an impure check would keep too few.
	if again, err := fails(tick.calls); err != nil || !again {
		if err == nil {
			err = fmt.Errorf("history: tick %d: %w: check %q", tick.Number, ErrImpure, name)
		}
		return nil, err
	}
	// Whole calls first: most of them go at once, and each try costs a play of the tick.
	calls, err := reduce(tick.calls, fails)
	if err != nil {
		return nil, err
	}
	var commands []commandIndex
	for i := range calls {
		for k := range calls[i] {
			commands = append(commands, commandIndex{i, k})
		}
	}
	commands, err = reduce(commands, func(some []commandIndex) (bool, error) { return fails(s.choose(calls, some)) })
	if err != nil {
		return nil, err
	}
	tick.calls = s.choose(calls, commands)
	script := &Script{Text: string(appendTick(nil, s.tables, tick)), check: name, tick: tick.Number}
	if err := s.back(ctx, &s.from); err != nil {
		return nil, err
	}
	if s.from.tick > 0 {
		var state bytes.Buffer
		if err := s.driver.WriteState(ctx, &state); err != nil {
			return nil, err
		}
		script.State = state.Bytes()
	}
	return script, nil
}

// choose returns calls with some of their commands, which are in order. Handles of creates get other
// numbers, because a create is named by its position among the creates of its call and table.
func (s *stage) choose(calls [][]entrance.Command, some []commandIndex) (chosen [][]entrance.Command) {
	for i, call := range calls {
		var kept []entrance.Command
		now := map[store.ID]store.ID{}
		before, after := map[int]uint64{}, map[int]uint64{}
		for k := range call {
			t := call[k].Table
			create := call[k].Kind == "create"
			if create {
				before[t]++
			}
			if len(some) == 0 || some[0] != (commandIndex{i, k}) {
				continue
			}
			some = some[1:]
			kept = append(kept, call[k])
			if create {
				after[t]++
				now[provisional(&s.tables[t], before[t])] = provisional(&s.tables[t], after[t])
			}
		}
		if len(kept) == 0 {
			continue
		}
		chosen = append(chosen, replaced(kept, func(id store.ID) store.ID {
			if !id.IsProvisional() {
				return id
			}
			if id, ok := now[id]; ok {
				return id
			}
			return stale(id)
		}))
	}
	return chosen
}

// freeBit marks the number of a create, as in [entrance.Command].
const freeBit = 1 << 63

// stale returns a handle of no item, of the same table. A command for a create that is left out stays
// with it, without an effect.
func stale(id store.ID) store.ID { return freeBit | id>>48<<48 }

// replaced returns a call with other handles.
func replaced(call []entrance.Command, to func(store.ID) store.ID) []entrance.Command {
	all := make([]entrance.Command, len(call))
	for i, c := range call {
		if c.ID != 0 {
			c.ID = uint64(to(store.ID(c.ID)))
		}
		c.Value = withIDs(c.Value, to)
		all[i] = c
	}
	return all
}
