package cells

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"handloom/internal/digest"
	"handloom/internal/wire"
	"handloom/store"
)

// A packet is a unit of consecutive messages of a pair. Little endian:
//
//	version u8 | schema [16] | from u64 | to u64 | first u64 | count u32 | messages
//
// schema identifies the outbox and the type of messages. Package digest encodes the messages.
type packet struct {
	from, to ID
	first    uint64
	count    int
	messages []byte
}

const (
	packetVersion     = 1
	schemaDigits      = 16
	packetHeaderBytes = 1 + schemaDigits + 8 + 8 + 8
	maxMessages       = 4096      // per packet
	maxBytes          = 256 << 10 // per packet; a single longer message is sent alone
)

var (
	errNotPacket = errors.New("invalid packet")
	errAddress   = errors.New("wrong cell")
	errSchema    = errors.New("messages of another outbox, type or program version")
)

func (p *packet) header(schema string) []byte {
	b := append([]byte{packetVersion}, schema...)
	for _, n := range [...]uint64{uint64(p.from), uint64(p.to), p.first} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return binary.LittleEndian.AppendUint32(b, 0)
}

// decode sets p from b. p.messages aliases b.
func (p *packet) decode(b []byte, schema string) error {
	in := wire.Reader{Left: b}
	version, got := in.Number(1), string(in.Cut(schemaDigits))
	*p = packet{from: ID(in.Number(8)), to: ID(in.Number(8)), first: in.Number(8), count: int(in.Number(4))}
	p.messages = in.Left
	switch {
	case in.Failed || version != packetVersion || p.from == 0 || p.first == 0 || p.count < 1 || p.count > maxMessages:
		return errNotPacket
	case got != schema:
		return errSchema
	}
	return nil
}

func (o *Outbox[M]) collect(to ID, after uint64) []byte {
	var row [maxMessages]*M // by number
	n := 0
	for _, l := range o.sent.All() {
		if at := l.Number - after - 1; l.Cell == to && l.Number > after && at < maxMessages {
			row[at] = &l.Message
			n++
		}
	}
	if n == 0 {
		return nil
	}
	p := packet{from: o.core.pairs.self(), to: to, first: after + 1}
	b := p.header(o.core.schema)
	for i := range n {
		before := len(b)
		b = o.core.codec.Append(b, unsafe.Pointer(row[i]), 1)
		if len(b) > maxBytes && i > 0 {
			b, n = b[:before], i
			break
		}
	}
	binary.LittleEndian.PutUint32(b[packetHeaderBytes:], uint32(n))
	return b
}

func (o *Outbox[M]) decode(p *packet) (messages []numbered[M], err error) {
	var in digest.Reader // grow messages step by step: count is untrusted
	in.Reset(p.messages)
	for i := range p.count {
		messages = append(messages, numbered[M]{Cell: p.from, Number: p.first + uint64(i)})
		in.Items(o.core.codec, unsafe.Pointer(&messages[i].Message), 1)
		if err := in.Err(); err != nil {
			return nil, fmt.Errorf("%w: %w", errNotPacket, err)
		}
	}
	if in.Remaining() > 0 {
		return nil, errNotPacket
	}
	return messages, nil
}

func (o *Outbox[M]) open(p *packet, received uint64) (func(q store.Queue) error, error) {
	messages, err := o.decode(p)
	if err != nil {
		return nil, err
	}
	for len(messages) > 1 && messages[0].Number <= received {
		messages = messages[1:]
	}
	return func(q store.Queue) error {
		o.arrived.EmplaceItems(q, messages, nil)
		return nil
	}, nil
}
