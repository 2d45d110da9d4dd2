package cluster

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A mailbox reads the packets for an outbox from the stream of its cell, and erases them when they
// are delivered.
//
//	stream ── consumer ──→ lane of sender 8 ── deliver
//	  │   └────────────────→ lane of sender 9 ── deliver
//	  └─ purge ←──── lowest sequence that is not delivered
//
// A lane whose packets are not delivered, such as packets of another version, does not stop other
// lanes. Past its limits it forgets packets, and reads them again later, one by one.
//
// The stream is the only place of these packets, so a purge never passes a sequence that is not
// delivered. Sequences of a stream begin at the time of its creation, so a late purge for a deleted
// stream erases nothing in the next one.
type mailbox struct {
	js       jetstream.JetStream
	stream   jetstream.Stream
	created  time.Time // of stream
	settings jetstream.StreamConfig
	filter   string // subjects of the outbox
	deliver  func(ctx context.Context, from CellID, packets [][]byte) error

	running sync.WaitGroup // lanes
	mutex   sync.Mutex
	next    uint64 // sequence after the last one read
	lanes   map[string]*lane

	// purged is the sequence of the last purge. Since then, shared reports whether sequences were
	// missing, which may be packets of another outbox.
	purged uint64
	shared bool
	end    uint64 // last sequence of the stream, now and then
}

// A lane has the packets of one sender.
type lane struct {
	subject   string
	from      CellID
	packets   []letter // from the first undelivered one
	bytes     int      // of packets
	missed    uint64   // sequence of the first packet past packets that was read and forgotten; 0: none
	last      uint64   // sequence of the last packet that was read
	running   bool
	delivered int // since the last purge
}

type letter struct {
	seq  uint64
	data []byte
}

const (
	// mailPerSender is the limit of the packets of a sender. More remain in the state of the sender.
	mailPerSender = 1 << 16

	// Limits of a lane. One packet always fits.
	lanePackets = 1 << 10
	laneBytes   = 1 << 20

	mailPull   = 1 << 13     // prefetched packets; thousands of cells may send in one tick
	purgeTime  = time.Second // between purges
	purgeLanes = 64          // max purges of single lanes, if one lane is blocked
)

func (m *mailbox) open(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*requestTime)
	defer cancel()
	if m.stream, err = openStream(ctx, m.js, beginsNow(m.settings)); err != nil {
		return err
	}
	info := m.stream.CachedInfo()
	m.created, m.lanes = info.Created, make(map[string]*lane)
	m.next = max(1, info.State.FirstSeq)
	m.purged = m.next
	return nil
}

// run delivers packets until ctx ends or the stream fails.
func (m *mailbox) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer m.running.Wait()
	defer cancel(nil)
	m.running.Go(func() { cancel(m.purgeAll(ctx)) })
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		before := m.next
		_ = m.consume(ctx) // purgeAll finds a stream that is gone
		if m.next > before {
			wait = firstRetry
		}
		if pause(ctx, wait) != nil {
			return context.Cause(ctx)
		}
	}
}

// consume reads packets until the consumer fails, or misses a packet.
func (m *mailbox) consume(ctx context.Context) error {
	c, err := newConsumer(ctx, m.stream, m.next, m.filter, mailPull)
	if err != nil {
		return err
	}
	defer c.messages.Stop()
	return m.readAll(ctx, c)
}

// readAll reads the packets of a consumer. Sequences may be missing in a stream, so the position
// of a message shows whether the connection dropped messages before it.
func (m *mailbox) readAll(ctx context.Context, c *consumer) error {
	for number := uint64(1); ; {
		msg, err := c.next(ctx)
		switch {
		case err == errNoMessage:
			if err := m.passOthers(ctx); err != nil {
				return err
			}
		case err != nil:
			return err
		case c.number != number:
			return errMissed
		default:
			number++
			m.read(ctx, letter{c.seq - 1, msg.Data()}, msg.Subject())
		}
	}
}

var errMissed = errors.New("the consumer misses a packet")

// passOthers moves next past the packets for other outboxes at the end of the stream.
func (m *mailbox) passOthers(ctx context.Context) error {
	m.mutex.Lock()
	end := m.end
	m.mutex.Unlock()
	if end < m.next {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	if _, err := m.stream.GetMsg(ctx, m.next, jetstream.WithGetMsgSubject(m.filter)); !isNotFound(err) {
		return cmp.Or(err, errMissed)
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.next, m.shared = end+1, true
	return nil
}

// read adds a packet to the lane of its sender.
func (m *mailbox) read(ctx context.Context, packet letter, subject string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.shared = m.shared || packet.seq > m.next
	m.next = packet.seq + 1
	l := m.lanes[subject]
	if l == nil {
		l = &lane{subject: subject, from: mailSender(subject)}
		m.lanes[subject] = l
	}
	if l.last = packet.seq; l.missed == 0 && !l.add(packet) {
		l.missed = packet.seq
	}
	if !l.running {
		l.running = true
		m.running.Go(func() { m.drain(ctx, l) })
	}
}

// add reports whether the lane had room for the packet.
func (l *lane) add(packet letter) bool {
	if n := len(l.packets); n > 0 && (n >= lanePackets || l.bytes+len(packet.data) > laneBytes) {
		return false
	}
	l.packets, l.bytes = append(l.packets, packet), l.bytes+len(packet.data)
	return true
}

// drain delivers the packets of a lane until the lane is empty, or ctx ends.
func (m *mailbox) drain(ctx context.Context, l *lane) {
	for {
		packets, missed := m.waiting(l)
		var err error
		switch {
		case len(packets) > 0:
			err = m.deliver(ctx, l.from, packets)
		case missed:
			err = m.readAgain(ctx, l)
		default:
			return
		}
		if err != nil {
			if pause(ctx, lastRetry) != nil {
				return
			}
			continue
		}
		m.remove(l, len(packets))
	}
}

// waiting returns the packets of a lane, or whether packets are read again. Otherwise the lane
// stops running.
func (m *mailbox) waiting(l *lane) (packets [][]byte, missed bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, p := range l.packets {
		packets = append(packets, p.data)
	}
	l.running = len(packets) > 0 || l.missed > 0
	return packets, l.missed > 0
}

func (m *mailbox) remove(l *lane, n int) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, p := range l.packets[:n] {
		l.bytes -= len(p.data)
	}
	l.packets, l.delivered = slices.Delete(l.packets, 0, n), l.delivered+n
}

// readAgain fills a lane with packets that did not fit before.
func (m *mailbox) readAgain(ctx context.Context, l *lane) error {
	for {
		m.mutex.Lock()
		seq, last := l.missed, l.last
		m.mutex.Unlock()
		if seq == 0 {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, requestTime)
		msg, err := m.stream.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(l.subject))
		cancel()
		if err != nil && !isNotFound(err) {
			return err
		}
		m.mutex.Lock()
		fits := true
		if err != nil { // somebody purged up to last
			seq = last
		} else if fits = l.add(letter{msg.Sequence, msg.Data}); fits {
			seq = msg.Sequence
		}
		if fits {
			if l.missed = seq + 1; seq >= l.last {
				l.missed = 0
			}
		}
		m.mutex.Unlock()
		if !fits {
			return nil
		}
	}
}

// undelivered returns the first sequence of a lane that is not delivered, or 0.
func (l *lane) undelivered() uint64 {
	if len(l.packets) > 0 {
		return l.packets[0].seq
	}
	return l.missed
}

// purgeAll purges now and then, until the stream is gone, was replaced, or has wrong settings.
func (m *mailbox) purgeAll(ctx context.Context) error {
	for pause(ctx, purgeTime) == nil {
		info, err := checkStream(ctx, m.stream, m.settings, m.created)
		switch {
		case errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, errReplaced), isWrongSettings(err):
			return err
		case err == nil:
			m.purge(ctx, info.State.LastSeq)
		}
	}
	return context.Cause(ctx)
}

// purge erases delivered packets of a stream that ends at a sequence. A purge that fails is
// repeated.
func (m *mailbox) purge(ctx context.Context, end uint64) {
	m.mutex.Lock()
	m.end = end
	low, shared, single := m.next, m.shared, []*lane(nil)
	for _, l := range m.lanes {
		if seq := l.undelivered(); seq > 0 {
			low = min(low, seq)
		}
	}
	for _, l := range m.lanes {
		if low == m.purged && l.delivered > 0 && len(single) < purgeLanes {
			single = append(single, l)
		}
	}
	m.mutex.Unlock()
	for _, l := range single {
		m.purgeLane(ctx, l)
	}
	if low == m.purged {
		return
	}
	o := []jetstream.StreamPurgeOpt{jetstream.WithPurgeSequence(low)}
	if shared {
		o = append(o, jetstream.WithPurgeSubject(m.filter))
	}
	if m.erase(ctx, o...) != nil {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.purged, m.shared = low, m.shared && m.next > low
	for _, l := range m.lanes {
		if seq := l.undelivered(); seq == 0 || seq == low {
			l.delivered = 0
		}
	}
}

// purgeLane erases delivered packets of one sender, because another lane is blocked.
func (m *mailbox) purgeLane(ctx context.Context, l *lane) {
	m.mutex.Lock()
	seq := cmp.Or(l.undelivered(), l.last+1)
	l.delivered = 0
	m.mutex.Unlock()
	_ = m.erase(ctx, jetstream.WithPurgeSubject(l.subject), jetstream.WithPurgeSequence(seq))
}

func (m *mailbox) erase(ctx context.Context, o ...jetstream.StreamPurgeOpt) error {
	ctx, cancel := context.WithTimeout(ctx, 5*requestTime)
	defer cancel()
	return m.stream.Purge(ctx, o...)
}
