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
	requestTimeout = 2 * time.Second // limit for a response; then the packet is sent again
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

func (s *sender) run(ctx context.Context, w *world.World, t Transport) error {
	ctx, cancel := context.WithCancelCause(ctx)
	l := &sendLoop{sender: s, world: w, transport: t, ctx: ctx}
	defer l.running.Wait()
	defer cancel(nil)
	self, err := l.self()
	if err != nil {
		return err
	}
	l.running.Go(func() { cancel(t.Serve(ctx, self, l.receive)) })
	return l.sendAll()
}

var errNoID = errors.New("cells: cell without ID: call Outbox.Init in world.Options.Init")

func (l *sendLoop) self() (self ID, err error) {
	err = l.read(func() { self = l.pairs.self() })
	if err == nil && self == 0 {
		err = errNoID
	}
	return self, err
}

func (l *sendLoop) read(look func()) error {
	return l.world.Read(l.ctx, func(context.Context, world.Tick) error {
		look()
		return nil
	})
}

func (l *sendLoop) sendAll() error {
	sending := make(map[ID]bool)
	for {
		more := l.next()
		var waits []ID
		if err := l.read(func() { waits = l.pairs.waiting() }); err != nil {
			return err
		}
		for _, to := range waits {
			if !sending[to] {
				sending[to] = true
				l.running.Go(func() { l.send(to) })
			}
		}
		if err := l.await(more); err != nil {
			return err
		}
	}
}

func (l *sendLoop) await(more <-chan struct{}) error {
	select {
	case <-more:
		return nil
	case <-l.ctx.Done():
		return context.Cause(l.ctx)
	}
}

func (l *sendLoop) send(to ID) {
	wait := firstRetry
	for l.ctx.Err() == nil {
		more := l.next()
		acked, packet := l.pack(to)
		switch {
		case packet == nil:
			_ = l.await(more)
		case l.deliver(to, acked, packet) == nil:
			wait = firstRetry
		default:
			l.sleep(wait)
			wait = min(2*wait, lastRetry)
		}
	}
}

// A halted World does not lead, so messages of a failed tick are never sent.
func (l *sendLoop) pack(to ID) (acked uint64, packet []byte) {
	_ = l.read(func() {
		_, p := l.pairs.find(to)
		if p == nil || p.Stopped || p.Sent == p.Acked || !l.world.Status().Leader {
			return
		}
		acked, packet = p.Acked, l.messages.collect(to, p.Acked)
	})
	return acked, packet
}

var errNotTaken = errors.New("cells: the peer accepted no message")

func (l *sendLoop) deliver(to ID, acked uint64, packet []byte) error {
	ctx, cancel := context.WithTimeout(l.ctx, requestTimeout)
	defer cancel()
	cursor, err := l.transport.Request(ctx, to, packet)
	if err != nil {
		return err
	}
	n := peerEvent{Cell: to, Last: cursor, Kind: eventAcked}
	if cursor == acked {
		return errNotTaken
	} else if cursor < acked {
		n.Kind = eventGap // the peer leads, and had these messages earlier
	}
	_, err = l.world.Submit(l.ctx, func(q store.Queue) error {
		l.pairs.events.Emplace(q, n)
		return nil
	})
	return err
}

// The applied call proves that this World led, so the cursor is current.
func (l *sendLoop) receive(ctx context.Context, b []byte) (cursor uint64, err error) {
	var p packet
	if err := p.decode(b, l.schema); err != nil {
		return 0, fmt.Errorf("cells: packet: %w", err)
	}
	var self ID
	if err := l.read(func() { self, cursor = l.pairs.self(), l.pairs.received(p.from) }); err != nil {
		return 0, err
	}
	if p.to != self {
		return 0, fmt.Errorf("cells: packet: %w: got %v, want %v", errAddress, p.to, self)
	}
	record, err := l.messages.open(&p, cursor)
	if err != nil {
		return 0, fmt.Errorf("cells: packet from %v: %w", p.from, err)
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout) // later the answer is useless
	defer cancel()
	if _, err := l.world.Submit(ctx, record); err != nil {
		return 0, err
	}
	err = l.read(func() { cursor = l.pairs.received(p.from) })
	return cursor, err
}

func (l *sendLoop) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.ctx.Done():
	}
}

// wake wakes goroutines that wait for a tick.
func (s *sender) wake() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.more != nil {
		close(s.more)
		s.more = nil
	}
}

func (s *sender) next() <-chan struct{} {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.more == nil {
		s.more = make(chan struct{})
	}
	return s.more
}
