package cells

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"handloom/store"
	"handloom/world"
)

// An arrival is a packet that waits for its tick.
type arrival struct {
	ctx    context.Context // ends with the sender's request
	from   ID
	count  int
	bytes  int
	record func(q store.Queue)
	done   chan error // 1 entry
}

// Limits of the packets of one call. A single larger packet is a call of its own.
const (
	maxCallMessages = 1 << 14
	maxCallBytes    = 1 << 20
)

// receive returns the cursor after a packet. The applied call proves that this World led, so the
// cursor is current. Many packets wait at the same time, and each tick takes them as one call.
func (l *sendLoop) receive(ctx context.Context, from ID, b []byte) (cursor uint64, err error) {
	var p packet
	if err := p.decode(b, l.schema); err != nil {
		return 0, fmt.Errorf("cells: packet: %w", err)
	}
	if from != 0 && from != p.from {
		l.forged.Add(1)
		return 0, fmt.Errorf("cells: packet: got sender %v, want %v: %w", p.from, from, errForged)
	}
	if p.to != l.self {
		return 0, fmt.Errorf("cells: packet: got receiver %v, want %v: %w", p.to, l.self, errAddress)
	}
	if err := l.read(func() { cursor = l.pairs.received(p.from) }); err != nil {
		return 0, err
	}
	record, err := l.messages.open(&p, cursor)
	if err != nil {
		return 0, fmt.Errorf("cells: packet from %v: %w", p.from, err)
	}
	if p.first > cursor+1 { // no message of the packet follows the cursor
		record = func(q store.Queue) {
			l.pairs.events.Emplace(q, peerEvent{Cell: p.from, First: p.first, Kind: eventLost})
		}
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout) // later the answer is useless
	defer cancel()
	a := &arrival{ctx, p.from, p.count, len(b), record, make(chan error, 1)}
	l.arrivals.add(a)
	select {
	case err = <-a.done:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return 0, err
	}
	err = l.read(func() { cursor = l.pairs.received(p.from) })
	return cursor, err
}

// receiveAll submits the packets that arrive during a tick as one call.
func (l *sendLoop) receiveAll() {
	for l.arrivals.wait(l.ctx) {
		for all := l.arrivals.take(); len(all) > 0; {
			n := callOf(all)
			l.submit(all[:n])
			all = all[n:]
		}
	}
}

// callOf returns the number of arrivals for the next call, at least 1.
func callOf(all []*arrival) (n int) {
	messages, bytes := 0, 0
	for _, a := range all {
		messages, bytes = messages+a.count, bytes+a.bytes
		if n > 0 && (messages > maxCallMessages || bytes > maxCallBytes) {
			break
		}
		n++
	}
	return n
}

// submit submits arrivals as one call, or each half of them if the call fails for a reason that
// one packet may be the cause of.
func (l *sendLoop) submit(all []*arrival) {
	all = slices.DeleteFunc(all, func(a *arrival) bool { return a.ctx.Err() != nil })
	if len(all) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(l.ctx, requestTimeout)
	defer cancel()
	err := l.record(ctx, all)
	mayDiffer := err != nil && ctx.Err() == nil && !errors.Is(err, world.ErrNotLeader) && !errors.Is(err, store.ErrUncertain)
	if mayDiffer && len(all) > 1 {
		half := len(all) / 2
		l.submit(all[:half:half])
		l.submit(all[half:])
		return
	}
	for _, a := range all {
		a.done <- err
	}
}

// record returns a panic of Options.Links as an error, because a message of another cell caused
// it.
func (l *sendLoop) record(ctx context.Context, all []*arrival) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("cells: Options.Links: panic: %v", v)
		}
	}()
	_, err = l.world.Submit(ctx, func(q store.Queue) error {
		if l.skip.Kind != 0 { // in each call, because another node may have led; again has no effect
			l.pairs.events.Emplace(q, l.skip)
		}
		for _, a := range all {
			a.record(q)
		}
		return nil
	})
	return err
}

// parseSkip parses Options.Skip.
func parseSkip(text string) (e peerEvent, err error) {
	if text == "" {
		return e, nil
	}
	var digits string
	n, err := fmt.Sscanf(text, "%16s:%d-%d", &digits, &e.First, &e.Last)
	if err == nil {
		e.Cell, err = ParseID(digits)
	}
	if again := fmt.Sprintf("%s:%d-%d", digits, e.First, e.Last); n != 3 || err != nil || again != text || e.First == 0 || e.Last < e.First {
		return e, fmt.Errorf("cells: Options.Skip: got %q, want CELL:FIRST-LAST, such as %v:7-7", text, ID(1))
	}
	e.Kind = eventSkip
	return e, nil
}
