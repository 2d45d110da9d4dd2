package cells

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"handloom/internal/digest"
	"handloom/store"
	"handloom/world"
)

type sender struct {
	store    *store.Store
	pairs    pairs
	bundles  bundles
	limit    int
	tries    int       // of Options.Tries
	trial    trial     // of the running tick
	skip     peerEvent // of Options.Skip; Kind 0: none
	name     string    // of the outbox
	codec    *digest.Codec
	schema   string // of codec
	typeHash uint64 // of schema
	older    schemaCache
	messages interface {
		open(p *packet, cursor uint64) (func(q store.Queue), error)
	}

	problems problems

	mutex sync.Mutex
	more  chan struct{} // closed after a tick; nil: nobody waits
}

const (
	requestTimeout = 2 * time.Second // limit for a response; then it is requested again
	firstRetry     = time.Millisecond
	lastRetry      = time.Second
	leaderPoll     = 100 * time.Millisecond // a World may begin to lead without a tick
)

// A sendLoop is one Run. Its goroutines: sendAll packs packets, one per packet waits until the
// mailbox has it, submitAcks submits that, openMailbox receives packets, and receiveAll submits
// them.
type sendLoop struct {
	*sender
	world     *world.World
	transport Transport
	ctx       context.Context
	running   sync.WaitGroup
	self      ID

	peers    map[ID]*delivery // of sendAll
	nudged   bool             // a call waits that makes a tick have a record
	outcomes list[outcome]
	acks     list[peerEvent]
	arrivals list[*arrival]
	senders  atomic.Int32 // whose packets wait for their ticks
}

// A delivery is the packet to one peer.
type delivery struct {
	busy    bool
	wait    time.Duration // the next retry after a failure
	retryAt time.Time
}

// An outcome is the end of a delivery.
type outcome struct {
	to  ID
	err error
}

func (s *sender) run(ctx context.Context, w *world.World, t Transport) error {
	ctx, cancel := context.WithCancelCause(ctx)
	l := &sendLoop{
		sender: s, world: w, transport: t, ctx: ctx, peers: make(map[ID]*delivery),
		outcomes: newList[outcome](), acks: newList[peerEvent](), arrivals: newList[*arrival](),
	}
	defer l.running.Wait()
	defer cancel(nil)
	for {
		err := l.read(func() { l.self = l.pairs.self() })
		if err == nil {
			break
		}
		if !errors.Is(err, world.ErrNotLeader) || !pause(ctx, leaderPoll) { // see world.Options.Wait
			return cmp.Or(context.Cause(ctx), err)
		}
	}
	if l.self == 0 {
		return errNoID
	}
	l.running.Go(l.openMailbox)
	l.running.Go(l.receiveAll)
	l.running.Go(l.submitAcks)
	return l.sendAll()
}

var errNoID = errors.New("cells: cell without ID: call Outbox.Init in world.Options.Init")

func (l *sendLoop) read(look func()) error {
	return l.world.Read(l.ctx, func(context.Context, world.Tick) error {
		look()
		return nil
	})
}

var errFollows = errors.New("cells: another node leads")

// openMailbox receives packets while the World leads.
func (l *sendLoop) openMailbox() {
	for l.awaitLeading(l.ctx, true) {
		ctx, cancel := context.WithCancelCause(l.ctx)
		l.running.Go(func() {
			if l.awaitLeading(ctx, false) {
				cancel(errFollows)
			}
		})
		err := l.transport.Receive(ctx, l.self, l.name, l.receive)
		if ctx.Err() == nil {
			l.problems.set(l.self, receives, err)
			pause(ctx, lastRetry)
		}
		cancel(nil)
	}
}

// awaitLeading reports whether the World began, or ceased, to lead before ctx ended. It looks
// after each tick, and now and then.
func (l *sendLoop) awaitLeading(ctx context.Context, leads bool) bool {
	timer := time.NewTimer(leaderPoll)
	defer timer.Stop()
	for {
		more := l.next()
		if l.world.Status().Leader == leads {
			return ctx.Err() == nil
		}
		timer.Reset(leaderPoll)
		select {
		case <-more:
		case <-timer.C:
		case <-ctx.Done():
			return false
		}
	}
}

// sendAll sends packets to every peer for which messages wait, one packet at a time for each.
func (l *sendLoop) sendAll() error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		more := l.next()
		next, err := l.sendDue(time.Now())
		if err != nil {
			return err
		}
		if timer.Stop(); !next.IsZero() {
			timer.Reset(time.Until(next))
		}
		select {
		case <-more:
		case <-timer.C:
		case <-l.outcomes.filled:
		case <-l.ctx.Done():
			return context.Cause(l.ctx)
		}
		for _, o := range l.outcomes.take() {
			if o.to == 0 {
				l.nudged = false
			} else {
				l.peers[o.to].end(o.err, time.Now())
			}
		}
	}
}

func (d *delivery) end(err error, now time.Time) {
	d.busy = false
	if err == nil {
		d.wait = 0
		return
	}
	d.wait = min(max(2*d.wait, firstRetry), lastRetry)
	d.retryAt = now.Add(d.wait)
}

// sendDue starts the deliveries that are due, and returns the time of the next look, or 0. A
// halted World does not lead, so messages of a failed tick are never sent. Messages of a tick
// without a record wait for one, because another leader may run the tick again.
func (l *sendLoop) sendDue(now time.Time) (next time.Time, err error) {
	err = l.read(func() {
		s := l.world.Status()
		if !s.Leader {
			next = now.Add(leaderPoll)
			return
		}
		for _, p := range l.pairs.peers.All() {
			if p.Stopped || p.Sent == p.Acked {
				continue
			}
			d := l.peers[p.Cell]
			if d == nil {
				d = new(delivery)
				l.peers[p.Cell] = d
			}
			switch {
			case d.busy:
			case d.wait > 0 && now.Before(d.retryAt):
				if next.IsZero() || d.retryAt.Before(next) {
					next = d.retryAt
				}
			case s.Unrecorded > 0:
				l.nudge()
			default:
				l.send(d, p.Cell, p.Acked)
			}
		}
	})
	if errors.Is(err, world.ErrNotLeader) { // the World waits
		return now.Add(leaderPoll), nil
	}
	return next, err
}

// nudge submits an event of no cell, which changes nothing but makes the next tick have a record.
func (l *sendLoop) nudge() {
	if !l.nudged {
		l.nudged = true
		l.acks.add(peerEvent{})
	}
}

func (l *sendLoop) send(d *delivery, to ID, acked uint64) {
	packet, last := l.collect(to, acked)
	if packet == nil {
		return
	}
	d.busy = true
	l.running.Go(func() {
		err := l.post(to, packet)
		l.problems.set(to, sends, err)
		if err != nil {
			l.outcomes.add(outcome{to, err})
			return
		}
		l.acks.add(peerEvent{Cell: to, Last: last, Kind: eventAcked}) // leaves the outcome to submitAcks
	})
}

func (l *sendLoop) post(to ID, packet []byte) error {
	ctx, cancel := context.WithTimeout(l.ctx, requestTimeout)
	defer cancel()
	return l.transport.Send(ctx, l.self, to, l.name, packet)
}

// submitAcks submits the acknowledgements of mailboxes during each tick as one call.
func (l *sendLoop) submitAcks() {
	for l.acks.wait(l.ctx) {
		acks := l.acks.take()
		_, err := l.world.Submit(l.ctx, func(q store.Queue) error {
			for _, a := range acks {
				l.pairs.events.Emplace(q, a)
			}
			return nil
		})
		for _, a := range acks {
			l.outcomes.add(outcome{a.Cell, err})
		}
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

// list is an unbounded queue with one reader.
type list[E any] struct {
	mutex  *sync.Mutex
	all    *[]E
	filled chan struct{}
}

func newList[E any]() list[E] {
	return list[E]{new(sync.Mutex), new([]E), make(chan struct{}, 1)}
}

func (l list[E]) add(e E) {
	l.mutex.Lock()
	*l.all = append(*l.all, e)
	l.mutex.Unlock()
	select {
	case l.filled <- struct{}{}:
	default:
	}
}

func (l list[E]) take() []E {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	taken := *l.all
	*l.all = nil
	return taken
}

// wait reports whether the list was filled before ctx ended.
func (l list[E]) wait(ctx context.Context) bool {
	select {
	case <-l.filled:
		return true
	case <-ctx.Done():
		return false
	}
}

// pause reports whether ctx lasted.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
