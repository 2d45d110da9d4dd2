package history

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"handloom/internal/entry"
	"handloom/internal/image"
	"handloom/world"
)

// A Range is ticks in a row that can be played, all of one version. Range.First is the tick of a
// snapshot.
type Range struct {
	First, Last uint64
	Version     string
	Err         error // the reason that no tick follows Last; nil at the end of the log
}

// A span is a Range and the snapshots in it.
type span struct {
	Range
	starts  []start  // ascending
	terms   []uint64 // for each term after the first one, the last tick before it
	skipped []uint64 // ticks that run without their input: see world.SkipInput
}

// A start is a snapshot.
type start struct {
	at, tick uint64
	version  string
}

// before returns the newest snapshot at or before a tick of the span.
func (s *span) before(tick uint64) start {
	i := len(s.starts) - 1
	for i > 0 && s.starts[i].tick > tick {
		i--
	}
	return s.starts[i]
}

func (s *span) has(tick uint64) bool { return s.First <= tick && tick <= s.Last }

// A scanner finds the spans of a log. It reads the records in order and takes each snapshot when it
// passes its position: a snapshot at position n has the state after record n.
type scanner struct {
	left   []start // snapshots after the last record, ascending
	spans  []span
	last   uint64  // position of the last record
	tick   uint64  // the last tick
	handed bool    // after a handoff
	next   []start // snapshots after the handoff, from which another version continues
}

func scan(ctx context.Context, l world.Log) ([]span, error) {
	tail, err := l.Tail(ctx)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	saved, err := readStarts(ctx, l)
	if err != nil {
		return nil, err
	}
	// A snapshot that was saved after the tail was read lies past the records of this scan.
	c := scanner{left: slices.DeleteFunc(saved, func(s start) bool { return s.at > tail })}
	// Each round takes at least the snapshot with which it begins, so the loop ends.
	for len(c.left) > 0 {
		c.begin()
		err := c.read(ctx, l, tail)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c.take(c.last)
		// Damage ends the range. A later snapshot begins the next range.
		if err != nil {
			c.end(fmt.Errorf("history: after record %d: %w", c.last, err))
		}
	}
	// A version that saved nothing, and that did not begin with a snapshot, cannot be played.
	return slices.DeleteFunc(c.spans, func(s span) bool { return len(s.starts) == 0 }), nil
}

// readStarts reads the headers of the snapshots. It skips damaged and dropped ones.
func readStarts(ctx context.Context, l world.Log) (saved []start, err error) {
	at, err := l.Snapshots(ctx)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	slices.Sort(at)
	for _, at := range at {
		// A journal that a world writes may drop a snapshot between the list and the read.
		r, err := l.Load(ctx, at)
		if err != nil {
			continue
		}
		head, err := image.NewReader(ctx, r).Header()
		if err := errors.Join(err, r.Close()); err == nil && head.Tag.At == at {
			saved = append(saved, start{at, head.Tag.Tick, head.Tag.Version})
		}
	}
	return saved, ctx.Err()
}

// begin begins a span with the first snapshot that is left.
func (c *scanner) begin() {
	s := c.left[0]
	c.last, c.tick, c.handed, c.next = s.at, s.tick, false, nil
	c.spans = append(c.spans, span{Range: Range{First: s.tick, Last: s.tick, Version: s.version}})
	c.take(s.at)
}

// take adds the snapshots up to position at to the span.
func (c *scanner) take(at uint64) {
	sp := c.span()
	for ; len(c.left) > 0 && c.left[0].at <= at; c.left = c.left[1:] {
		s := c.left[0]
		if c.handed { // both versions play from it: the older one up to its tick, the newer one after it
			c.next = append(c.next, s)
		}
		sp.add(s)
	}
}

func (s *span) add(snapshot start) {
	// Ticks before the first snapshot of a version cannot be played.
	if len(s.starts) == 0 {
		s.First = snapshot.tick
	}
	s.starts = append(s.starts, snapshot)
	s.Last = max(s.Last, snapshot.tick)
}

func (c *scanner) span() *span { return &c.spans[len(c.spans)-1] }

var errEnds = errors.New("end of read")

func (c *scanner) read(ctx context.Context, l world.Log, tail uint64) error {
	if c.last >= tail {
		return nil
	}
	err := l.Read(ctx, c.last, func(at uint64, rec []byte) error {
		var r entry.Record
		if err := r.Decode(rec); err != nil {
			return fmt.Errorf("record %d: %w: %w", at, world.ErrCorrupt, err)
		}
		c.take(at - 1) // snapshots before the record belong to the version before it
		c.add(&r)
		// Later records were written after the scan began, and their snapshots are not in the list.
		if c.last = at; at >= tail {
			return errEnds
		}
		return nil
	})
	if errors.Is(err, errEnds) {
		return nil
	}
	return err
}

func (c *scanner) add(r *entry.Record) {
	sp := c.span()
	switch r.Kind {
	case entry.KindTermStart:
		switch {
		case sp.Version == "" && c.last == 0: // the snapshot of Init has no version
			sp.Version = r.Start.Version
		case sp.Version != r.Start.Version:
			c.change(r.Start.Version)
		default:
			sp.terms = append(sp.terms, c.tick)
		}
		c.handed, c.next = false, nil // later snapshots are of this term alone
	case entry.KindHandoff:
		c.handed = true
	case entry.KindSkip:
		sp.skipped = append(sp.skipped, r.Tick)
	}
	c.tick = r.Tick
	c.span().Last = max(c.span().Last, r.Tick)
}

// change begins a span of another version, with the snapshots after the handoff, whose tick is also
// the last one of the old version. Without any, the span begins with its first own snapshot.
func (c *scanner) change(version string) {
	c.end(fmt.Errorf("history: after tick %d: %w: got %q, want %q", c.tick, world.ErrVersion, version, c.span().Version))
	c.spans = append(c.spans, span{Range: Range{First: c.tick, Last: c.tick, Version: version}})
	for _, s := range c.next {
		c.span().add(s)
	}
}

func (c *scanner) end(err error) { c.span().Err = err }
