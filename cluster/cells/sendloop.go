package cells

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"handloom/internal/digest"
	"handloom/store"
	"handloom/world"
)

// sender is the part of an Outbox without the type of messages.
type sender struct {
	store    *store.Store
	pairs    pairs
	limit    int
	codec    *digest.Codec
	schema   string
	messages interface {
		collect(to ID, after uint64) []byte
		open(p *packet, received uint64) (func(q store.Queue) error, error)
	}

	mutex sync.Mutex
	more  chan struct{} // closed after a tick; nil: nobody waits
}

const (
	requestTimeout = 2 * time.Second // of an answer; then the packet is sent again
	firstRetry     = time.Millisecond
	lastRetry      = time.Second
)

// A sendLoop is one Run.
type sendLoop struct {
	*sender
	world     *world.World
	transport Transport
	ctx       context.Context
	running   sync.WaitGroup
}

func (c *sender) run(ctx context.Context, w *world.World, t Transport) error {
	ctx, cancel := context.WithCancelCause(ctx)
	v := &sendLoop{sender: c, world: w, transport: t, ctx: ctx}
	defer v.running.Wait()
	defer cancel(nil)
	self, err := v.self()
	if err != nil {
		return err
	}
	v.running.Go(func() { cancel(t.Serve(ctx, self, v.receive)) })
	return v.sendAll()
}

var errNoID = errors.New("cells: cell without ID: call Outbox.Init in world.Options.Init")

func (v *sendLoop) self() (self ID, err error) {
	err = v.read(func() { self = v.pairs.self() })
	if err == nil && self == 0 {
		err = errNoID
	}
	return self, err
}

func (v *sendLoop) read(look func()) error {
	return v.world.Read(v.ctx, func(context.Context, world.Tick) error {
		look()
		return nil
	})
}

// sendAll sends to each cell with waiting messages in a goroutine of its own.
func (v *sendLoop) sendAll() error {
	sending := make(map[ID]bool)
	for {
		more := v.next()
		var waits []ID
		if err := v.read(func() { waits = v.pairs.waiting() }); err != nil {
			return err
		}
		for _, to := range waits {
			if !sending[to] {
				sending[to] = true
				v.running.Go(func() { v.send(to) })
			}
		}
		if err := v.await(more); err != nil {
			return err
		}
	}
}

func (v *sendLoop) await(more <-chan struct{}) error {
	select {
	case <-more:
		return nil
	case <-v.ctx.Done():
		return context.Cause(v.ctx)
	}
}

// send sends to one cell, a packet at a time, until the Run ends.
func (v *sendLoop) send(to ID) {
	wait := firstRetry
	for v.ctx.Err() == nil {
		more := v.next()
		acked, packet := v.pack(to)
		switch {
		case packet == nil:
			_ = v.await(more)
		case v.deliver(to, acked, packet) == nil:
			wait = firstRetry
		default:
			v.sleep(wait)
			wait = min(2*wait, lastRetry)
		}
	}
}

// pack returns the next packet to a cell, or nil, and the number before it. A halted World is
// not an owner, so messages of a failed tick are never sent.
func (v *sendLoop) pack(to ID) (acked uint64, packet []byte) {
	_ = v.read(func() {
		_, p := v.pairs.find(to)
		if p == nil || p.Stopped || p.Sent == p.Acked || !v.world.Status().Leader {
			return
		}
		acked, packet = p.Acked, v.messages.collect(to, p.Acked)
	})
	return acked, packet
}

var errNotTaken = errors.New("cells: the peer accepted no message")

// deliver sends a packet to a cell and submits the peer's cursor.
func (v *sendLoop) deliver(to ID, acked uint64, packet []byte) error {
	ctx, cancel := context.WithTimeout(v.ctx, requestTimeout)
	defer cancel()
	cursor, err := v.transport.Request(ctx, to, packet)
	if err != nil {
		return err
	}
	n := peerEvent{Cell: to, Last: cursor, Kind: eventAcked}
	if cursor == acked {
		return errNotTaken
	} else if cursor < acked {
		n.Kind = eventGap // the peer owns its log, and had these messages earlier
	}
	_, err = v.world.Submit(v.ctx, func(q store.Queue) error {
		v.pairs.events.Emplace(q, n)
		return nil
	})
	return err
}

// receive takes a packet and returns the sender's new cursor. The applied call proves that this
// World owned the log, so the cursor is current.
func (v *sendLoop) receive(ctx context.Context, b []byte) (cursor uint64, err error) {
	var p packet
	if err := p.decode(b, v.schema); err != nil {
		return 0, fmt.Errorf("cells: packet: %w", err)
	}
	var self ID
	if err := v.read(func() { self, cursor = v.pairs.self(), v.pairs.received(p.from) }); err != nil {
		return 0, err
	}
	if p.to != self {
		return 0, fmt.Errorf("cells: packet: %w: got %v, want %v", errAddress, p.to, self)
	}
	record, err := v.messages.open(&p, cursor)
	if err != nil {
		return 0, fmt.Errorf("cells: packet from %v: %w", p.from, err)
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout) // later the answer is useless
	defer cancel()
	if _, err := v.world.Submit(ctx, record); err != nil {
		return 0, err
	}
	err = v.read(func() { cursor = v.pairs.received(p.from) })
	return cursor, err
}

func (v *sendLoop) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-v.ctx.Done():
	}
}

// wake wakes goroutines that wait for a tick.
func (c *sender) wake() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.more != nil {
		close(c.more)
		c.more = nil
	}
}

// next returns a channel that the next tick closes.
func (c *sender) next() <-chan struct{} {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.more == nil {
		c.more = make(chan struct{})
	}
	return c.more
}
