package cells

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"handloom/store"
	"handloom/world"
)

// An arrival is a batch of packets of one sender that waits for its tick.
type arrival struct {
	ctx    context.Context // ends with the wait
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

// receive returns nil when the log has the ticks that received the packets. It repeats them until
// then. Packets that no program of the cell could receive are dropped.
func (l *sendLoop) receive(ctx context.Context, from ID, packets [][]byte) error {
	l.senders.Add(1)
	defer l.senders.Add(-1)
	for wait, limit := time.Duration(0), len(packets); len(packets) > 0; {
		taken, err := l.take(ctx, from, packets[:min(len(packets), limit)])
		if packets = packets[taken:]; err != nil || taken > 0 {
			l.problems.set(from, receives, err)
		}
		if taken > 0 {
			wait, limit = 0, 2*limit
			continue
		}
		limit = max(1, limit/2) // one packet may be the cause
		wait = min(max(2*wait, firstRetry), lastRetry)
		if !pause(ctx, wait) {
			return context.Cause(ctx)
		}
	}
	return nil
}

// take submits packets as one batch, at most this sender's share of a call, and returns the number of packets that are received or
// dropped. It may return an error, too.
//
// The applied call proves that this World led, so the cursor is current.
func (l *sendLoop) take(ctx context.Context, from ID, packets [][]byte) (taken int, err error) {
	var cursor uint64
	var lost uint64
	if err := l.read(func() { cursor, lost = l.pairs.received(from) }); err != nil {
		return 0, err
	}
	var b batch
	b.next = cursor + 1
	senders := max(1, int(l.senders.Load()))
	for _, p := range packets {
		if b.bytes > 0 && b.bytes+len(p) > maxCallBytes/senders || b.count >= max(1, maxCallMessages/senders) {
			break
		}
		if failed := l.add(&b, from, p, cursor); failed != nil {
			if err = failed; waits(failed) || errors.Is(failed, ErrGap) {
				break
			}
			b.last = append(b.last, 0) // dropped
		}
	}
	if b.gap > lost {
		first := b.gap
		b.record = append(b.record, func(q store.Queue) {
			l.pairs.events.Emplace(q, peerEvent{Cell: from, First: first + 1, Kind: eventLost})
		})
	}
	if len(b.record) == 0 {
		return len(b.last), err
	}
	if failed := l.wait(ctx, &b); failed != nil {
		return 0, fmt.Errorf("cells: packet from %v: %w", from, failed)
	}
	if err := l.read(func() { cursor, _ = l.pairs.received(from) }); err != nil {
		return 0, err
	}
	for taken < len(b.last) && b.last[taken] <= cursor {
		taken++
	}
	if taken > 0 && taken == len(packets) && b.last[taken-1] > 0 && b.last[taken-1] < cursor {
		l.running.Go(func() { _ = l.post(from, l.header(l.self, from, cursor)) })
	}
	return taken, err
}

// A batch is the content of packets for one tick.
type batch struct {
	last   []uint64 // numbers of the last messages of the packets; 0: none
	next   uint64   // number of the next message
	gap    uint64   // messages up to this number are lost; 0: none
	count  int
	bytes  int
	record []func(q store.Queue)
}

// add adds a packet to b, or returns the reason why it waits, or is dropped.
func (l *sendLoop) add(b *batch, from ID, content []byte, cursor uint64) error {
	var p packet
	err := p.decode(content)
	switch {
	case err != nil:
		return fmt.Errorf("cells: packet from %v: %w", from, err)
	case p.from != from:
		return fmt.Errorf("cells: packet from %v: got sender %v: %w", from, p.from, errForged)
	case p.to != l.self:
		return fmt.Errorf("cells: packet from %v: got receiver %v, want %v: %w", from, p.to, l.self, errAddress)
	case p.count == 0:
		b.record = append(b.record, func(q store.Queue) {
			l.pairs.events.Emplace(q, peerEvent{Cell: from, Last: p.first, Kind: eventCursor})
		})
		b.last = append(b.last, 0)
		return nil
	case p.first > b.next:
		if len(b.record) == 0 {
			b.gap = p.first - 1
		}
		return fmt.Errorf("cells: packet from %v: got message %d, want %d: %w; call Outbox.Skip", from, p.first, b.next, ErrGap)
	}
	record, err := l.messages.open(&p, cursor)
	if err != nil {
		return fmt.Errorf("cells: packet from %v: %w", from, err)
	}
	b.next = max(b.next, p.last()+1)
	b.count, b.bytes = b.count+p.count, b.bytes+len(content)
	b.last, b.record = append(b.last, p.last()), append(b.record, record)
	return nil
}

// wait waits until a tick has applied a batch. Many batches wait at the same time, and each tick
// takes them as one call.
func (l *sendLoop) wait(ctx context.Context, b *batch) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	a := &arrival{ctx, b.count, b.bytes, func(q store.Queue) {
		l.pairs.events.Emplace(q, peerEvent{}) // a call without records is not applied
		for _, record := range b.record {
			record(q)
		}
	}, make(chan error, 1)}
	l.arrivals.add(a)
	select {
	case err := <-a.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// receiveAll submits the batches that arrive during a tick as one call.
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
// one batch may be the cause of.
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
