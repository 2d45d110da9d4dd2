package history

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"handloom/internal/digest"
	"handloom/internal/hook"
	"handloom/store"
	"handloom/world"
)

// serveDiff answers requests of [Diff] until the end of its input, which also ends a request.
func (c *command) serveDiff(ctx context.Context, _ []string) (int, error) {
	os.Stdout = os.Stderr // Tick and New may print
	if err := writeFrame(c.stdout, reply{Protocol: diffProtocol}); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	requests := make(chan request)
	go func() {
		in := bufio.NewReader(os.Stdin)
		for {
			var r request
			if err := readFrame(in, &r); err != nil {
				cancel(err)
				return
			}
			requests <- r
		}
	}()
	s := server{game: c.game}
	for {
		select {
		case r := <-requests:
			answer, err := s.answer(ctx, r)
			if err != nil {
				answer = reply{Err: newRemoteError(err)}
			}
			if err := writeFrame(c.stdout, answer); err != nil {
				return 0, err
			}
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), io.EOF) {
				return 0, s.close()
			}
			return 0, errors.Join(context.Cause(ctx), s.close())
		}
	}
}

// A server plays ticks for [Diff].
type server struct {
	game    Game
	history *History
	to      uint64
	ignored ignored
}

func (s *server) close() error {
	if s.history == nil {
		return nil
	}
	return s.history.Close()
}

func (s *server) answer(ctx context.Context, r request) (reply, error) {
	switch {
	case r.Do == "about":
		return s.about(ctx)
	case r.Do == "open" && s.history == nil:
		return s.open(ctx, r.Dir)
	case s.history == nil:
	case r.Do == "begin":
		return s.begin(ctx, r)
	case r.Do == "run":
		return s.run(ctx, r)
	case r.Do == "state":
		return s.state(ctx, r.To)
	case r.Do == "rows":
		return reply{Rows: rowsOf(s.store(), r.Table, s.ignored)}, nil
	case r.Do == "item":
		return reply{Leaves: leavesOf(s.store(), r.Table, r.Item, s.ignored)}, nil
	case r.Do == "why":
		return s.why(ctx, r)
	}
	return reply{}, fmt.Errorf("got request %q", r.Do)
}

func (s *server) store() *store.Store { return s.history.cursor.store }

func (s *server) about(ctx context.Context) (reply, error) {
	st, o, _, err := s.game.New(1)
	if err != nil {
		return reply{}, fmt.Errorf("Game.New: %w", err)
	}
	c, err := hook.OpenClaim[store.Queue, *store.Receipt, *store.Writer](ctx, st)
	if err != nil {
		return reply{}, err
	}
	defer c.Release()
	return reply{Version: o.Version, Schema: c.Schema()}, nil
}

// diffMemory is the part of one of two programs.
var diffMemory int64 = defaultMemory / 2

func (s *server) open(ctx context.Context, dir string) (reply, error) {
	h, err := Open(ctx, dir, s.game, Options{Any: true, Memory: diffMemory})
	if err != nil {
		return reply{}, err
	}
	s.history = h
	h.unchecked = true
	ranges := h.Ranges()
	for i := range ranges {
		ranges[i].Err = nil
	}
	return reply{Ranges: ranges}, nil
}

// begin restores the newest snapshot at or before a tick. Later snapshots are of the program that
// wrote the log, so from then on none of them is used.
func (s *server) begin(ctx context.Context, r request) (reply, error) {
	h := s.history
	sp, err := h.spanOf(r.From, r.To)
	if err != nil {
		return reply{}, err
	}
	if err := h.within(sp, r.From, r.To); err != nil {
		return reply{}, err
	}
	first := sp.before(r.From)
	sp.starts = slices.DeleteFunc(sp.starts, func(at start) bool { return at.tick > first.tick })
	s.to = r.To
	p, err := h.seek(ctx, first.tick, s.to)
	if err != nil {
		return reply{}, err
	}
	if s.ignored, err = newIgnored(p.store, r.Ignore); err != nil {
		return reply{}, err
	}
	answer, err := s.state(ctx, first.tick)
	answer.From = first.tick
	return answer, err
}

// run plays ticks, and hashes the states.
func (s *server) run(ctx context.Context, r request) (answer reply, err error) {
	if _, err := s.history.seek(ctx, r.From, s.to); err != nil {
		return reply{}, err
	}
	err = s.store().Team(ctx, func(ctx context.Context) error {
		for tick := r.From + 1; tick <= r.To; tick++ {
			p, err := s.history.seek(ctx, tick, s.to)
			if failed, ok := errors.AsType[*world.TickError](err); ok {
				answer.Failed = &failedTick{failed.Tick, newRemoteError(failed)}
				return nil
			}
			if err != nil {
				return err
			}
			if (tick-r.From)%max(r.Every, 1) == 0 || tick == r.To {
				answer.Sums = append(answer.Sums, sumOf(s.flushes(), tableSums(p.store, s.ignored)))
			}
		}
		return nil
	})
	return answer, err
}

func (s *server) state(ctx context.Context, tick uint64) (reply, error) {
	p, err := s.history.seek(ctx, tick, s.to)
	if err != nil {
		return reply{}, err
	}
	tables, epoch := tableSums(p.store, s.ignored), s.flushes()
	return reply{Tables: tables, Epoch: epoch, Sums: []uint64{sumOf(epoch, tables)}}, nil
}

// flushes returns the number of flushes with commands, or 0 if it is ignored.
func (s *server) flushes() uint64 {
	if slices.Contains(s.ignored, ignoreFlushes) {
		return 0
	}
	return s.store().Epoch()
}

// tableSums returns the digest of each table.
func tableSums(s *store.Store, i ignored) []tableSum {
	var all []tableSum
	for _, t := range s.DigestTables() {
		var h digest.Hash
		if i.has(t.Name) {
			h.Bytes(rowsOf(s, t.Name, i))
		} else {
			for _, sum := range t.Shards {
				h.Uint64(sum)
			}
		}
		all = append(all, tableSum{t.Name, h.Sum()})
	}
	return all
}

func sumOf(epoch uint64, tables []tableSum) uint64 {
	var h digest.Hash
	h.Uint64(epoch)
	for _, t := range tables {
		h.Uint64(t.Sum)
	}
	return h.Sum()
}

// why returns the last change of a value. A change of the item itself comes before changes of its
// columns in the same tick.
func (s *server) why(ctx context.Context, r request) (reply, error) {
	h := s.history
	if r.Field == "" {
		all, err := h.Changes(ctx, r.Item, "", r.To, r.To)
		for i, c := range all {
			if err == nil && c.Field == "" && (c.From == "" || c.To == "") {
				return reply{Change: &all[i]}, nil
			}
		}
	}
	change, err := h.Why(ctx, r.Item, r.Field, r.To)
	switch {
	case err == nil:
		return reply{Change: &change}, nil
	case errors.Is(err, ErrImpure), ctx.Err() != nil:
		return reply{}, err
	}
	return reply{NoChange: newRemoteError(err)}, nil
}
