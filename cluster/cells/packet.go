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
	errNotPacket = errors.New("invalid packet; give both cells one version of the library")
	errAddress   = errors.New("wrong cell; give each cell an ID of its own")
	errForged    = errors.New("forged packet; end the program that has the files of the sender")
	errSchema    = errors.New("messages of another outbox, type or program version; hand one cell over to the version of the other")
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

// collect encodes the messages to a cell after a number, or returns nil if there are none.
func (o *Outbox[M]) collect(to ID, after uint64) []byte {
	messages := o.waiting(to, after)
	if len(messages) == 0 {
		return nil
	}
	p := packet{from: o.core.pairs.self(), to: to, first: after + 1}
	b, n := p.header(o.core.schema), 0
	for _, m := range messages {
		before := len(b)
		b = o.core.codec.Append(b, unsafe.Pointer(m), 1)
		if len(b) > maxBytes && n > 0 {
			b = b[:before]
			break
		}
		n++
	}
	binary.LittleEndian.PutUint32(b[packetHeaderBytes:], uint32(n))
	return b
}

// waiting returns the messages to a cell after a number, as many as a packet takes. Readers must
// not rebuild lines, so it scans the table if a line is stale.
func (o *Outbox[M]) waiting(to ID, after uint64) []*M {
	known := o.core.pairs.get(to)
	if known == nil || known.Sent <= after {
		return nil
	}
	messages := make([]*M, min(known.Sent-after, maxMessages))
	for i := range messages {
		_, m := o.lines.get(o.sent, to, after+1+uint64(i))
		if m == nil {
			o.scan(messages, to, after)
			break
		}
		messages[i] = &m.Message
	}
	return messages
}

func (o *Outbox[M]) scan(messages []*M, to ID, after uint64) {
	for _, l := range o.sent.All() {
		if at := l.Number - after - 1; l.Cell == to && l.Number > after && at < uint64(len(messages)) {
			messages[at] = &l.Message
		}
	}
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

// open returns a function that records the messages of p. It drops messages received before,
// except the last received one, which the tick compares, and the last one of p.
func (o *Outbox[M]) open(p *packet, received uint64) (func(q store.Queue), error) {
	messages, err := o.decode(p)
	if err != nil {
		return nil, err
	}
	for len(messages) > 1 && messages[0].Number < received {
		messages = messages[1:]
	}
	return func(q store.Queue) { o.arrived.EmplaceItems(q, messages, nil) }, nil
}
