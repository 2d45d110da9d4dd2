package cells

import (
	"errors"
	"fmt"

	"handloom/store"
)

// A peer is the state of a pair. The first row is the cell itself.
type peer struct {
	Cell     ID
	Sent     uint64 // number of the last message to the peer
	Acked    uint64 // in the peer's mailbox, and erased here, up to this number
	Received uint64 // number of the last message from the peer: the cursor
	Tries    uint32 // ticks that failed because of the next message from the peer
	Lost     uint64 // messages after Received up to this number are not in the mailbox: ErrGap; 0: none
	Stopped  bool   // the peer has received more messages than exist: ErrGap
	Forked   bool   // the peer sent another message Received: ErrGap

	Last, LastType uint64 // hashes of message Received; 0: unknown

	SkipFirst, SkipLast uint64 // messages from the peer that are never received
}

// A peerEvent is an input about a peer.
type peerEvent struct {
	Cell  ID
	First uint64
	Last  uint64
	Kind  eventKind
}

type eventKind uint8

const (
	eventAcked  eventKind = 1 + iota // the peer's mailbox has the messages up to Last
	eventCursor                      // the peer has received the messages up to Last
	eventSkip                        // never receive these messages from the peer
	_                                // used by an older version
	eventGone                        // the peer is gone forever
	eventLost                        // the oldest message of the peer in the mailbox has number First
)

// pairs are the message numbers of all pairs.
type pairs struct {
	peers  *store.Table[peer]
	byCell *store.Index[ID, peer]
	events *store.Table[peerEvent]
	acked  []ack // scratch memory of applyEvents
}

// An ack is a peer whose Acked rose.
type ack struct {
	cell     ID
	from, to uint64 // Acked before and after
}

func (p *pairs) register(s *store.Store, name string) {
	p.peers = store.Register(s, store.TableOptions[peer]{Name: name + " peers"})
	p.byCell = store.AddIndex(p.peers, "cell", func(v *peer) (ID, bool) { return v.Cell, true })
	p.events = store.Register(s, store.TableOptions[peerEvent]{Name: name + " notices"})
}

// self returns the cell, or 0 before Init.
func (p *pairs) self() ID {
	for _, first := range p.peers.All() {
		return first.Cell
	}
	return 0
}

// get returns a peer or nil, in O(1) time. Readers may call it.
func (p *pairs) get(cell ID) *peer {
	h, _ := p.byCell.Find(cell)
	known, _ := p.peers.Get(h)
	return known
}

// getOrAdd returns a peer, new if needed. Other peers may move. If there is no memory
// for it, the frame of w fails, and the peer is not in the table.
func (p *pairs) getOrAdd(w *store.Writer, cell ID) *peer {
	if known := p.get(cell); known != nil {
		return known
	}
	if known, ok := p.peers.Get(p.peers.Insert(w, peer{Cell: cell})); ok {
		return known
	}
	return &peer{Cell: cell}
}

// number returns the number of the next message, or 0 if limit messages wait for the cell.
func (p *pairs) number(w *store.Writer, to ID, limit int) uint64 {
	known := p.getOrAdd(w, to)
	if known.Sent-known.Acked >= uint64(limit) {
		return 0
	}
	known.Sent++
	return known.Sent
}

// applyEvents applies the events, and returns the peers whose Acked rose, valid until the next
// call.
func (p *pairs) applyEvents(w *store.Writer) []ack {
	p.acked = p.acked[:0]
	for _, n := range p.events.All() {
		known := p.get(n.Cell)
		if known == nil && (n.Kind == eventSkip || n.Kind == eventLost) {
			known = p.getOrAdd(w, n.Cell)
		}
		if known == nil {
			continue
		}
		if from := known.Acked; known.apply(n) {
			p.acked = append(p.acked, ack{n.Cell, from, known.Acked})
		}
	}
	p.events.Clear(w)
	return p.acked
}

func (p *peer) advance(number uint64) {
	if p.SkipFirst <= number+1 {
		number = max(number, p.SkipLast)
	}
	if number != p.Received {
		p.Received, p.Tries, p.Lost, p.Last = number, 0, 0, 0
	}
}

// differs reports whether a message with number Received, of these hashes, is another one than
// the received one. Hashes of another type do not compare.
func (p *peer) differs(message, typ uint64) bool {
	return p.Last != 0 && p.LastType == typ && p.Last != message
}

func (p *peer) apply(n *peerEvent) (acked bool) {
	switch n.Kind {
	case eventAcked:
		if n.Last > p.Sent {
			p.Stopped = true
		} else if n.Last > p.Acked {
			acked, p.Acked = true, n.Last
		}
	case eventCursor:
		p.Stopped = p.Stopped || n.Last > p.Sent
	case eventSkip:
		p.SkipFirst, p.SkipLast = n.First, n.Last
		p.Forked, p.Last = false, 0
		p.advance(p.Received)
	case eventGone:
		acked, p.Acked = p.Acked < p.Sent, p.Sent
	case eventLost:
		if n.First > p.Received+1 {
			p.Lost = n.First - 1
		}
	}
	return acked
}

// received returns the cursor of a pair, and the end of its lost messages or 0.
func (p *pairs) received(from ID) (cursor, lost uint64) {
	if known := p.get(from); known != nil {
		return known.Received, known.Lost
	}
	return 0, 0
}

// Pair is the state of the messages between this cell and another. Each number includes all
// messages up to it.
type Pair struct {
	Cell     ID
	Sent     uint64 // to the cell
	Acked    uint64 // in the mailbox of the cell, and erased here
	Received uint64 // from the cell
	Err      error  // ErrGap if nothing is sent to the cell, or nothing received from it, any more
}

func (p *peer) pair() Pair {
	pair := Pair{Cell: p.Cell, Sent: p.Sent, Acked: p.Acked, Received: p.Received}
	if p.Stopped {
		pair.Err = fmt.Errorf("cells: messages to %v: sent %d, and the cell has received more: %w; start this cell with another ID", p.Cell, p.Sent, ErrGap)
	}
	if p.Lost > 0 {
		pair.Err = errors.Join(pair.Err, fmt.Errorf("cells: messages from %v: received %d, lost up to %d: %w; call Outbox.Skip", p.Cell, p.Received, p.Lost, ErrGap))
	}
	if p.Forked {
		pair.Err = errors.Join(pair.Err, fmt.Errorf("cells: messages from %v: got another message %d than before: %w; start the sender with another ID", p.Cell, p.Received, ErrGap))
	}
	return pair
}
