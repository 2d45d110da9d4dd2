package cells

import (
	"fmt"

	"handloom/store"
)

// A peer is what a cell knows of another one. The first row is the cell itself.
type peer struct {
	Cell     ID
	Sent     uint64 // number of the last message to it
	Acked    uint64 // that it has, as far as is known: those up to here are erased
	Received uint64 // number of the last message from it: the cursor
	Stopped  bool   // messages to it: the two do not agree which it has

	SkipFirst, SkipLast uint64 // of those from it, that are not to be received, or were not
}

// A notice is what a cell is told about a peer, from outside.
type peerEvent struct {
	Cell  ID
	First uint64
	Last  uint64
	Kind  eventKind
}

type eventKind uint8

const (
	eventAcked  eventKind = 1 + iota // the peer has the messages up to Last
	eventGap                         // it has no more than those, and more are erased here
	eventSkip                        // messages from it are not to be received
	eventResume                      // ship to it again
	eventGone                        // it is gone for good
)

// pairs are the numbers of messages, to and from each peer: all that decides which
// message is the next.
type pairs struct {
	peers  *store.Table[peer]
	events *store.Table[peerEvent]
	hint   store.Handle[peer] // of the one that was looked for last
}

func (p *pairs) register(s *store.Store, name string) {
	p.peers = store.Register(s, store.TableOptions[peer]{Name: name + " peers"})
	p.events = store.Register(s, store.TableOptions[peerEvent]{Name: name + " notices"})
}

// own returns the cell itself, 0 before Init.
func (p *pairs) self() ID {
	for _, first := range p.peers.All() {
		return first.Cell
	}
	return 0
}

// get returns what is known of a cell, or nil. It takes O(1) time for the cell of the
// call before, else as long as there are peers.
func (p *pairs) get(cell ID) *peer {
	if known, ok := p.peers.Get(p.hint); ok && known.Cell == cell {
		return known
	}
	h, known := p.find(cell)
	if known != nil {
		p.hint = h
	}
	return known
}

// find is get for readers, who may not write the hint.
func (p *pairs) find(cell ID) (store.Handle[peer], *peer) {
	for h, known := range p.peers.All() {
		if known.Cell == cell {
			return h, known
		}
	}
	return store.Handle[peer]{}, nil
}

// meet is get for a cell that may be a new one. Other peers may move.
func (p *pairs) getOrAdd(w *store.Writer, cell ID) (*peer, error) {
	if known := p.get(cell); known != nil {
		return known, nil
	}
	h, err := p.peers.Insert(w, peer{Cell: cell})
	if err != nil {
		return nil, err
	}
	return p.peers.At(h), nil
}

// number returns the number of the next message to a cell.
func (p *pairs) number(w *store.Writer, to ID) (uint64, error) {
	known, err := p.getOrAdd(w, to)
	if err != nil {
		return 0, err
	}
	known.Sent++
	return known.Sent, nil
}

// take reports whether a message is the next one from a cell, and if so counts it.
func (p *pairs) accept(w *store.Writer, from ID, number uint64) (bool, error) {
	known, err := p.getOrAdd(w, from)
	if err != nil || number != known.Received+1 {
		return false, err
	}
	known.advance(number)
	return true, nil
}

// hear does what the notices say, and reports whether peers have more messages than
// was known.
func (p *pairs) applyEvents(w *store.Writer) (acked bool, err error) {
	for _, n := range p.events.All() {
		known := p.get(n.Cell)
		if known == nil && n.Kind == eventSkip {
			if known, err = p.getOrAdd(w, n.Cell); err != nil {
				return acked, err
			}
		}
		if known != nil {
			acked = known.apply(n) || acked
		}
	}
	p.events.Clear(w)
	return acked, nil
}

// receive moves the cursor to a number, and on over those that are to be skipped then.
func (p *peer) advance(number uint64) {
	p.Received = number
	if p.SkipFirst <= number+1 {
		p.Received = max(number, p.SkipLast)
	}
}

func (p *peer) apply(n *peerEvent) (acked bool) {
	switch n.Kind {
	case eventAcked:
		if n.Last > p.Sent {
			p.Stopped = true
		} else if n.Last > p.Acked {
			acked, p.Acked = true, n.Last
		}
	case eventGap:
		p.Stopped = true
	case eventSkip:
		p.SkipFirst, p.SkipLast = n.First, n.Last
		p.advance(p.Received)
	case eventResume:
		p.Stopped = false
	case eventGone:
		acked, p.Acked = p.Acked < p.Sent, p.Sent
	}
	return acked
}

// received returns the cursor of a cell.
func (p *pairs) received(from ID) uint64 {
	if _, known := p.find(from); known != nil {
		return known.Received
	}
	return 0
}

// waiting returns the cells that there are messages for.
func (p *pairs) waiting() (to []ID) {
	for _, known := range p.peers.All() {
		if known.Sent > known.Acked {
			to = append(to, known.Cell)
		}
	}
	return to
}

// kept is how many messages are numbered and not known to have arrived.
func (p *pairs) pending() int {
	n := uint64(0)
	for _, known := range p.peers.All() {
		n += known.Sent - known.Acked
	}
	return int(n)
}

// Pair is how far the messages between the cell and another one are. Of each number the
// messages up to it are meant.
type Pair struct {
	Cell     ID
	Sent     uint64 // to it
	Acked    uint64 // that it has, and that are erased here
	Received uint64 // from it
	Err      error  // an [ErrGap]: nothing is shipped to it any more
}

func (p *peer) pair() Pair {
	pair := Pair{Cell: p.Cell, Sent: p.Sent, Acked: p.Acked, Received: p.Received}
	if p.Stopped {
		pair.Err = fmt.Errorf("cells: messages to %v, of which %d are sent and %d erased: %w", p.Cell, p.Sent, p.Acked, ErrGap)
	}
	return pair
}
