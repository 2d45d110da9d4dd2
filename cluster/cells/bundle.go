package cells

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	"handloom/store"
)

// A bundle has consecutive messages of one tick to a cell, encoded as in a packet.
type bundle struct {
	To    ID
	First uint64 // number
	Count int
	Bytes []byte // never change, so copies share them
}

func (b *bundle) last() uint64 { return b.First + uint64(b.Count) - 1 }

// bundleKey is the key of a bundle.
type bundleKey struct {
	to    ID
	first uint64
}

// bundles are the messages that no mailbox has yet. A packet has whole bundles.
type bundles struct {
	table *store.Table[bundle]
	byKey *store.Index[bundleKey, bundle]

	tick []bundle   // scratch memory: the messages of this tick
	open map[ID]int // scratch memory: the last bundle to a cell in tick
}

func (s *bundles) register(st *store.Store, name string) {
	s.table = store.Register(st, store.TableOptions[bundle]{Name: name, Clone: func(dst, src *bundle) { *dst = *src }})
	s.byKey = store.AddIndex(s.table, "first", func(b *bundle) (bundleKey, bool) { return bundleKey{b.To, b.First}, true })
	s.open = make(map[ID]int)
}

// add adds a message of this tick, which encode appends to bytes.
func (s *bundles) add(to ID, number uint64, room int, encode func(b []byte) []byte) {
	i, ok := s.open[to]
	if !ok {
		i = len(s.tick)
		s.tick, s.open[to] = append(s.tick, bundle{To: to, First: number}), i
	}
	b := &s.tick[i]
	before := len(b.Bytes)
	if b.Bytes = encode(b.Bytes); b.Count > 0 && (len(b.Bytes) > room || b.Count == maxMessages) {
		next := bundle{to, number, 1, bytes.Clone(b.Bytes[before:])}
		b.Bytes = b.Bytes[:before:before]
		s.tick, s.open[to] = append(s.tick, next), len(s.tick)
		return
	}
	b.Count++
}

// keep puts the messages of this tick into the table.
func (s *bundles) keep(w *store.Writer) {
	for _, b := range s.tick {
		s.table.Insert(w, b)
	}
}

// begins returns the bundle that begins with a message, or nil.
func (s *bundles) begins(to ID, number uint64) (store.Handle[bundle], *bundle) {
	h, _ := s.byKey.Find(bundleKey{to, number})
	b, _ := s.table.Get(h)
	return h, b
}

// find returns the bundle that has a message, or nil. Mailboxes mostly have whole bundles.
func (s *bundles) find(to ID, number uint64) (store.Handle[bundle], *bundle) {
	for back := uint64(0); back < min(number, maxMessages); back++ {
		if h, b := s.begins(to, number-back); b != nil && b.last() >= number {
			return h, b
		} else if b != nil {
			break
		}
	}
	return store.Handle[bundle]{}, nil
}

// erase erases the bundles that a mailbox has. Each begins after the one before.
func (s *bundles) erase(w *store.Writer, a ack) {
	for h, b := s.find(a.cell, a.from+1); b != nil && b.last() <= a.to; {
		next := b.last() + 1
		s.table.Remove(w, h)
		h, b = s.begins(a.cell, next)
	}
}

// collect returns a packet with the messages to a cell after a number, or nil if there are none, and
// the number of the last one.
func (s *sender) collect(to ID, after uint64) (packet []byte, last uint64) {
	last, n := after, 0
	for _, b := s.bundles.find(to, after+1); b != nil; _, b = s.bundles.begins(to, last+1) {
		if n > 0 && (len(packet)+len(b.Bytes) > maxBytes || n+b.Count > maxMessages) {
			break
		}
		if n == 0 {
			packet = s.header(s.pairs.self(), to, b.First)
		}
		packet, n, last = append(packet, b.Bytes...), n+b.Count, b.last()
	}
	if n > 0 {
		binary.LittleEndian.PutUint32(packet[packetCount:], uint32(n))
	}
	return packet, last
}

// bundle adds the messages of this tick to the bundles, and those above the limit to refused.
func (o *Outbox[M]) bundle(w *store.Writer) {
	room := maxBytes - len(o.core.header(0, 0, 0))
	o.core.bundles.tick = o.core.bundles.tick[:0]
	clear(o.core.bundles.open)
	o.refused.Clear(w)
	for _, m := range store.Created(o.sent) {
		number := o.core.pairs.number(w, m.Cell, o.core.limit)
		if number == 0 {
			o.refused.Insert(w, *m)
			continue
		}
		o.core.bundles.add(m.Cell, number, room, func(b []byte) []byte {
			return o.core.codec.Append(b, unsafe.Pointer(&m.Message), 1)
		})
	}
	o.sent.Clear(w)
	o.core.bundles.keep(w)
}
