package cells

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"handloom/internal/check"
)

// Transport keeps a mailbox for each outbox of each cell, with the packets that other cells have
// sent it. Packets remain in the mailbox while the cell is not running. Several goroutines call
// the methods.
type Transport interface {
	// Send puts a packet into the mailbox of a cell. The mailbox has the packet after nil, and may
	// have it after an error, also later. Send fails if the mailbox is full, and with
	// [ErrUnreachable] until the first Receive.
	Send(ctx context.Context, from, to ID, outbox string, packet []byte) error

	// Receive calls deliver with the packets in the mailbox of a cell until ctx ends, and returns
	// the cause. from is the sender, which the transport has verified. The packets of a sender
	// come in the order in which the mailbox got them, in one call after another, and may come
	// again; no sender waits for another. After nil the mailbox erases them. Only nodes that lead
	// the cell, or have just led it, call Receive.
	Receive(ctx context.Context, cell ID, outbox string, deliver func(ctx context.Context, from ID, packets [][]byte) error) error
}

// Local returns a Transport between the cells of one process, with mailboxes in memory.
func Local() Transport { return &local{boxes: make(map[recipient]*box)} }

type local struct {
	mutex sync.Mutex
	boxes map[recipient]*box
}

type recipient struct {
	cell   ID
	outbox string
}

// A box is a mailbox.
type box struct {
	lanes map[ID]*lane
	order []*lane       // lanes, oldest first
	more  chan struct{} // closed when a lane is added
}

// A lane has the packets of one sender.
type lane struct {
	from    ID
	packets [][]byte
	erased  int           // number of packets before packets[0]
	more    chan struct{} // closed when a packet is added
}

// Limits of the packets of one sender: in a mailbox, and in a call of deliver.
const (
	maxLocalPackets = 1 << 16
	maxLocalBatch   = 1 << 10
)

func (l *local) Send(ctx context.Context, from, to ID, outbox string, packet []byte) error {
	check.Given(ctx != nil, "cells: Send", "context")
	l.mutex.Lock()
	defer l.mutex.Unlock()
	b := l.boxes[recipient{to, outbox}]
	if b == nil {
		return fmt.Errorf("cells: %v: %w; start it, or call Outbox.Abandon if it is gone forever", to, ErrUnreachable)
	}
	queue := b.lanes[from]
	if queue == nil {
		queue = &lane{from: from, more: make(chan struct{})}
		b.lanes[from], b.order = queue, append(b.order, queue)
		signal(&b.more)
	}
	if len(queue.packets) >= maxLocalPackets {
		return fmt.Errorf("cells: %v: mailbox full: got %d packets of %v; start the cell, or call Outbox.Abandon if it is gone forever", to, maxLocalPackets, from)
	}
	queue.packets = append(queue.packets, bytes.Clone(packet))
	signal(&queue.more)
	return nil
}

// signal wakes all that wait for a channel.
func signal(more *chan struct{}) {
	close(*more)
	*more = make(chan struct{})
}

func (l *local) Receive(ctx context.Context, cell ID, outbox string, deliver func(ctx context.Context, from ID, packets [][]byte) error) error {
	check.Given(ctx != nil, "cells: Receive", "context")
	check.Given(deliver != nil, "cells: Receive", "function")
	var running sync.WaitGroup
	defer running.Wait()
	for known := 0; ; {
		l.mutex.Lock()
		b := l.boxes[recipient{cell, outbox}]
		if b == nil {
			b = &box{lanes: make(map[ID]*lane), more: make(chan struct{})}
			l.boxes[recipient{cell, outbox}] = b
		}
		added, more := b.order[known:], b.more
		l.mutex.Unlock()
		known += len(added)
		for _, queue := range added {
			running.Go(func() { l.drain(ctx, queue, deliver) })
		}
		select {
		case <-more:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// drain delivers the packets of a lane until ctx ends. Another Receive may do the same.
func (l *local) drain(ctx context.Context, queue *lane, deliver func(ctx context.Context, from ID, packets [][]byte) error) {
	for ctx.Err() == nil {
		l.mutex.Lock()
		batch, more := slices.Clone(queue.packets[:min(len(queue.packets), maxLocalBatch)]), queue.more
		last := queue.erased + len(batch)
		l.mutex.Unlock()
		if len(batch) == 0 {
			select {
			case <-more:
			case <-ctx.Done():
			}
			continue
		}
		if deliver(ctx, queue.from, batch) != nil {
			pause(ctx, firstRetry)
			continue
		}
		l.mutex.Lock()
		if n := last - queue.erased; n > 0 {
			queue.packets, queue.erased = slices.Delete(queue.packets, 0, n), last
		}
		l.mutex.Unlock()
	}
}
