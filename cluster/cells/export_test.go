package cells

import (
	"encoding/binary"
	"unsafe"

	"handloom/store"
)

func (o *Outbox[M]) Pack(to ID, after uint64) []byte {
	packet, _ := o.core.collect(to, after)
	return packet
}

func (o *Outbox[M]) Open(b []byte) (func(q store.Queue) error, error) {
	var p packet
	if err := p.decode(b); err != nil {
		return nil, err
	}
	cursor, _ := o.core.pairs.received(p.from)
	record, err := o.open(&p, cursor)
	return func(q store.Queue) error { record(q); return nil }, err
}

func (o *Outbox[M]) Acked(q store.Queue, cell ID, number uint64) {
	o.core.pairs.events.Emplace(q, peerEvent{Cell: cell, Last: number, Kind: eventAcked})
}

func (o *Outbox[M]) Cursor(from ID) uint64 {
	cursor, _ := o.core.pairs.received(from)
	return cursor
}

func (o *Outbox[M]) Arrived(q store.Queue, from ID, number uint64, m M) {
	o.arrived.Emplace(q, numbered[M]{from, number, m})
}

func (o *Outbox[M]) Again(b []byte) ([]byte, error) {
	var p packet
	if err := p.decode(b); err != nil {
		return nil, err
	}
	messages, err := o.decode(&p)
	if err != nil {
		return nil, err
	}
	again := o.core.header(p.from, p.to, p.first)
	for i := range messages {
		again = o.core.codec.Append(again, unsafe.Pointer(&messages[i].Message), 1)
	}
	binary.LittleEndian.PutUint32(again[packetCount:], uint32(len(messages)))
	return again, nil
}

func CallOf(messages, bytes, packets int) int {
	all := make([]*arrival, packets)
	for i := range all {
		all[i] = &arrival{count: messages, bytes: bytes}
	}
	return callOf(all)
}
