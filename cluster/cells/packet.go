package cells

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"unsafe"

	"handloom/internal/digest"
	"handloom/internal/wire"
	"handloom/store"
)

// A packet is a unit of consecutive messages of a pair. Little endian:
//
//	"HLP" | version u8 | from u64 | to u64 | first u64 | count u32 | length u32, type | messages
//
// type is the schema of the messages, and package digest encodes them. A packet without messages
// is a notice: first is the cursor of its sender.
type packet struct {
	from, to ID
	first    uint64
	count    int
	schema   string // of the messages
	messages []byte
}

func (p *packet) last() uint64 { return p.first + uint64(p.count) - 1 }

const (
	packetMagic   = "HLP"
	packetVersion = 1
	packetCount   = len(packetMagic) + 1 + 8 + 8 + 8 // offset of count
	maxMessages   = 4096                             // per packet
	maxBytes      = 256 << 10                        // per packet; a single longer message is sent alone
)

var (
	errNotPacket = errors.New("invalid packet; end the program that has the files of the sender and sends other data")
	errVersion   = errors.New("packet of another version of the library; give both cells one version")
	errAddress   = errors.New("wrong cell; give each cell an ID of its own")
	errForged    = errors.New("forged packet; end the program that has the files of the sender")
	errSchema    = errors.New("messages of another type; hand this cell over to a program with them, or call Outbox.Skip")
)

// waits reports whether a packet of this error waits in the mailbox for another program.
// Others are dropped.
func waits(err error) bool { return errors.Is(err, errVersion) || errors.Is(err, errSchema) }

func (s *sender) header(from, to ID, first uint64) []byte {
	b := append([]byte(packetMagic), packetVersion)
	for _, n := range [...]uint64{uint64(from), uint64(to), first} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = binary.LittleEndian.AppendUint32(b, 0) // no messages yet
	return wire.AppendText(b, s.schema)
}

// decode sets p from b. p.messages aliases b.
func (p *packet) decode(b []byte) error {
	in := wire.Reader{Left: b}
	magic, version := string(in.Cut(uint64(len(packetMagic)))), in.Number(1)
	if in.Failed || magic != packetMagic {
		return errNotPacket
	}
	if version != packetVersion {
		return errVersion
	}
	*p = packet{from: ID(in.Number(8)), to: ID(in.Number(8)), first: in.Number(8), count: int(in.Number(4))}
	p.schema = in.Text()
	p.messages = in.Left
	if in.Failed || p.from == 0 || p.first == 0 && p.count > 0 || p.count > maxMessages || p.first > math.MaxUint64-maxMessages {
		return errNotPacket
	}
	return nil
}

// decode decodes the messages of p. Fields of an older type are matched by name, as in
// [store.Store.Load].
func (o *Outbox[M]) decode(p *packet) (messages []numbered[M], err error) {
	older, err := o.core.migration(p.schema)
	if err != nil {
		return nil, err
	}
	in := digest.NewDecoder(func() ([]byte, error) {
		piece := p.messages
		if p.messages = nil; len(piece) == 0 {
			return nil, digest.ErrEncoding
		}
		return piece, nil
	})
	in.Migrate(older)
	for i := range p.count { // grow messages step by step: count is untrusted
		messages = append(messages, numbered[M]{Cell: p.from, Number: p.first + uint64(i)})
		o.core.codec.DecodeItems(in, unsafe.Pointer(&messages[i].Message), 1)
		if err := in.Err(); err != nil {
			return nil, fmt.Errorf("%w: %w", errNotPacket, err)
		}
	}
	if in.Remaining()+len(p.messages) > 0 {
		return nil, errNotPacket
	}
	return messages, nil
}

// A schemaCache has the last other type of messages in a packet.
type schemaCache struct {
	mutex sync.Mutex
	text  string
	plan  *digest.Migration
	err   error
}

// migration returns nil for messages of the own type. A message with a field that the own type
// lacks waits for the program that has it.
func (s *sender) migration(schema string) (*digest.Migration, error) {
	if schema == s.schema {
		return nil, nil
	}
	c := &s.older
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.text == schema {
		return c.plan, c.err
	}
	from, err := digest.ParseSchema(schema)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotPacket, err)
	}
	c.text, c.plan, c.err = schema, s.codec.From(from), nil
	if lacks := append(c.plan.Mismatches, c.plan.Lost...); len(lacks) > 0 {
		c.err = fmt.Errorf("%w: %s cannot be converted", errSchema, strings.Join(lacks, ", "))
	}
	return c.plan, c.err
}

// open returns a function that records the messages of p past the cursor, and the one at the
// cursor, which the tick compares with the received one.
func (o *Outbox[M]) open(p *packet, cursor uint64) (func(q store.Queue), error) {
	messages, err := o.decode(p)
	if err != nil {
		return nil, err
	}
	for len(messages) > 0 && messages[0].Number < cursor {
		messages = messages[1:]
	}
	return func(q store.Queue) { o.arrived.EmplaceItems(q, messages, nil) }, nil
}
