package history

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"handloom/store"
	"handloom/world"
)

const verifyTicks = 3

// verifyNewest plays three ticks after the newest snapshot that has some four times: from the snapshot,
// again in the same store, again from a checkpoint of it, and with another number of workers. It
// returns [ErrImpure] if two states differ. It skips a tick that fails, and records of another build.
func (h *History) verifyNewest(ctx context.Context) error {
	for i := len(h.spans) - 1; i >= 0; i-- {
		sp := &h.spans[i]
		if sp.First < sp.Last && h.plays(sp) {
			return h.verify(ctx, sp, sp.before(sp.Last-1))
		}
	}
	return nil
}

func (h *History) verify(ctx context.Context, sp *span, s start) error {
	var players [2]*player
	// One worker takes the chunks of a pass in order, three may not.
	for i, workers := range []int{1, 3} {
		p, err := h.newPlayer(ctx, sp, workers)
		if err != nil {
			return err
		}
		defer p.Close()
		players[i] = p
	}
	var m moment
	p := players[0]
	if err := p.start(ctx, s.at); err != nil {
		return unlessUnplayable(err)
	}
	first, err := visit(ctx, p)
	if err != nil {
		return err
	}
	// The checkpoint is of the second visit, so that the third one has a past of its own.
	if err := p.start(ctx, s.at); err != nil {
		return err
	}
	if err := p.Save(ctx, &m.state); err != nil {
		return err
	}
	if err := again(ctx, p, first); err != nil {
		return err
	}
	if err := p.back(ctx, &m); err != nil {
		return err
	}
	if err := again(ctx, p, first); err != nil {
		return err
	}
	// Another store and another number of workers: variables of the program have other values.
	if err := players[1].start(ctx, s.at); err != nil {
		return err
	}
	return again(ctx, players[1], first)
}

// A state has the digests after a tick.
type state struct {
	Tick   uint64
	Epoch  uint64              // flushes with commands
	Tables []store.TableDigest `json:",omitempty"`
}

func stateOf(p *player) state { return state{p.tick.Number, p.store.Epoch(), p.store.DigestTables()} }

// visit plays some ticks and returns the states after them: fewer if a tick fails or is not kept.
func visit(ctx context.Context, p *player) (states []state, err error) {
	for range verifyTicks {
		if p.tick.Number == p.span.Last { // a record after it may be damaged
			break
		}
		if err := p.next(ctx); err != nil {
			return states, unlessUnplayable(err)
		}
		states = append(states, stateOf(p))
	}
	return states, nil
}

// unlessUnplayable returns nil for the error of a tick that does not lead to a state, and for
// records of another build.
func unlessUnplayable(err error) error {
	for _, is := range []error{ErrRange, world.ErrTick, world.ErrDiverged, world.ErrVersion, world.ErrCorrupt} {
		if errors.Is(err, is) {
			return nil
		}
	}
	return err
}

// again plays the ticks of visit again. A tick that fails in one of the plays alone is impure, too.
func again(ctx context.Context, p *player, first []state) error {
	states, err := visit(ctx, p)
	if err != nil {
		return err
	}
	for i := range min(len(first), len(states)) {
		if err := compare(first[i], states[i]); err != nil {
			return err
		}
	}
	if len(first) != len(states) {
		n := min(len(first), len(states))
		return fmt.Errorf("history: tick %d: %w: one of them fails", append(first, states...)[0].Tick+uint64(n), ErrImpure)
	}
	return nil
}

// difference returns the tables in which two states differ, each with its first shard that does, or
// "". Both have the same tables and shards, in one order.
func difference(a, b state) string {
	var all []string
	for i, t := range a.Tables {
		for shard, sum := range t.Shards {
			if b.Tables[i].Shards[shard] != sum {
				all = append(all, fmt.Sprintf("table %q, shard %d", t.Name, shard))
				break
			}
		}
	}
	if len(all) == 0 && a.Epoch != b.Epoch {
		return fmt.Sprintf("%d flushes with commands, then %d", a.Epoch, b.Epoch)
	}
	return strings.Join(all, "; ")
}

func compare(a, b state) error {
	if text := difference(a, b); text != "" {
		return fmt.Errorf("history: tick %d: %w: %s", a.Tick, ErrImpure, text)
	}
	return nil
}
