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

// A parcel is what goes from a cell to another one at a time: some messages with numbers
// that follow each other. Everything is little endian:
//
//	version u8 | schema [16] | from u64 | to u64 | first u64 | count u32 | messages
//
// schema names the outbox and the type of its messages, whose bytes are those of package
// digest.
type parcel struct {
	from, to ID
	first    uint64
	count    int
	messages []byte
}

const (
	parcelVersion = 1
	schemaDigits  = 16
	parcelHead    = 1 + schemaDigits + 8 + 8 + 8
	mostLetters   = 4096      // in a parcel
	mostBytes     = 256 << 10 // of a parcel, or one message that is longer
)

var (
	errParcel  = errors.New("the bytes are no parcel")
	errAddress = errors.New("it is for another cell")
	errSchema  = errors.New("its messages are of another outbox, or type: another version of the program sent it")
)

// head returns the bytes of p without its messages.
func (p *parcel) head(schema string) []byte {
	b := append([]byte{parcelVersion}, schema...)
	for _, n := range [...]uint64{uint64(p.from), uint64(p.to), p.first} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return binary.LittleEndian.AppendUint32(b, 0)
}

// decode makes p what b holds. The messages are part of b.
func (p *parcel) decode(b []byte, schema string) error {
	in := wire.Reader{Left: b}
	version, of := in.Number(1), string(in.Cut(schemaDigits))
	*p = parcel{from: ID(in.Number(8)), to: ID(in.Number(8)), first: in.Number(8), count: int(in.Number(4))}
	p.messages = in.Left
	switch {
	case in.Failed || version != parcelVersion || p.from == 0 || p.first == 0 || p.count < 1 || p.count > mostLetters:
		return errParcel
	case of != schema:
		return errSchema
	}
	return nil
}

// collect returns a parcel of messages to a cell that follow one of them, nil if there
// are none.
func (o *Outbox[M]) collect(to ID, after uint64) []byte {
	var row [mostLetters]*M // by number
	n := 0
	for _, l := range o.sent.All() {
		if at := l.Number - after - 1; l.Cell == to && l.Number > after && at < mostLetters {
			row[at] = &l.Message
			n++
		}
	}
	if n == 0 {
		return nil
	}
	p := parcel{from: o.core.pairs.own(), to: to, first: after + 1}
	b := p.head(o.core.schema)
	for i := range n {
		before := len(b)
		b = o.core.program.Append(b, unsafe.Pointer(row[i]), 1)
		if len(b) > mostBytes && i > 0 {
			b, n = b[:before], i
			break
		}
	}
	binary.LittleEndian.PutUint32(b[parcelHead:], uint32(n))
	return b
}

// decode returns the messages of a parcel.
func (o *Outbox[M]) decode(p *parcel) (letters []letter[M], err error) {
	var in digest.Reader // letters grows as messages are there: count may be anything
	in.Reset(p.messages)
	for i := range p.count {
		letters = append(letters, letter[M]{Cell: p.from, Number: p.first + uint64(i)})
		in.Items(o.core.program, unsafe.Pointer(&letters[i].Message), 1)
		if err := in.Err(); err != nil {
			return nil, fmt.Errorf("%w: %w", errParcel, err)
		}
	}
	if in.Remaining() > 0 {
		return nil, errParcel
	}
	return letters, nil
}

// open decodes the messages of a parcel, and returns a call that records the messages after
// a number, or the last message if there are none.
func (o *Outbox[M]) open(p *parcel, received uint64) (func(q store.Queue) error, error) {
	letters, err := o.decode(p)
	if err != nil {
		return nil, err
	}
	for len(letters) > 1 && letters[0].Number <= received {
		letters = letters[1:]
	}
	return func(q store.Queue) error {
		o.arrived.EmplaceItems(q, letters, nil)
		return nil
	}, nil
}
