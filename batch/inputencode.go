package batch

import (
	"encoding/binary"

	"handloom/handle"
	"handloom/internal/digest"
	"handloom/internal/highwater"
	"handloom/internal/items"
)

// Encoding of an input: calls of the inbox as bytes. Numbers without a size are
// [binary.AppendUvarint], others little endian.
//
//	input     nothing; or version u8, calls, (call)...
//	call      (part)... and 0
//	part      kind u8, then by kind
//	creates   table, n, (item)...              creates precede the other parts
//	puts      table, n, (handle u64, item)...
//	erases    table, n, (handle u64)...        handles of any table
//	unknown   n, (handle u64)...               unknown typeIds
//	eraseAll  table
//	sets      table, attachment, n, (handle u64, value)...    creates of the call first
//	optional  table, attachment, n, (handle u64, 1, value; or handle u64, 0)...    Sets and Unsets, same order
//
// A table is its ordinal + 1, an attachment its index in the table + 1. Items and values
// are encoded by package digest, or as a zero byte if that encoding is empty. Provisional
// handles, also in fields of items and in references, become
//
//	bit 63   62 ... 48   47 ... 0
//	1        typeId      number of the create in its call and table, from 1
//
// with number 0, which stays stale, if the create is not of the same call.
const inputVersion = 2

const (
	partEnd = iota
	partCreates
	partPuts
	partErases
	partUnknown
	partEraseAll
	partSets
	partOptional
)

// encoder encodes the calls of one buffer, one at a time, on the goroutine of the call.
type encoder struct {
	inbox    *EncodedInbox
	buf      *buffer
	out      []byte
	peak     highwater.Mark
	renaming renaming
	recorded []recordedRun
	trial    digest.Reader
	err      error // the first item that cannot be decoded
}

// recordedRun is a segment of an encoded call: n creates from at on, named from name on.
type recordedRun struct {
	name         handle.ID
	table, n, at int
}

// encode returns the encoded call, valid until the next use. It overwrites provisional
// handles in the buffer's values.
func (e *encoder) encode(a *EncodedInbox, buf *buffer) ([]byte, error) {
	e.inbox, e.buf, e.err = a, buf, nil
	e.recorded = e.recorded[:0]
	e.out = highwater.Trim(&e.peak, e.out)
	// Creates of all tables come first: later parts may name any of them.
	for _, t := range buf.touched {
		e.creates(a.tables[t.ordinal], t.table)
	}
	for _, t := range buf.touched {
		e.puts(a.tables[t.ordinal], t.table)
	}
	for _, list := range buf.lists {
		e.erases(partErases, a.byList[list], buf.erases[list].ids)
	}
	e.erases(partUnknown, nil, buf.unknownErases)
	for _, ordinal := range buf.all {
		e.part(partEraseAll, a.tables[ordinal], 0)
	}
	for _, s := range buf.attached {
		e.sets(s)
	}
	e.out = append(e.out, partEnd)
	// The encoder stays with the buffer and must not keep the claim.
	e.inbox, e.buf = nil, nil
	return e.out, e.err
}

// part writes no count if n is 0.
func (e *encoder) part(kind uint8, r *Recorder, n int) {
	e.out = append(e.out, kind)
	if r != nil {
		e.out = binary.AppendUvarint(e.out, uint64(r.ordinal)+1)
	}
	if n > 0 {
		e.out = binary.AppendUvarint(e.out, uint64(n))
	}
}

// creates encodes the creates of a table and notes their segments for the call.
func (e *encoder) creates(r *Recorder, c *tableBuffer) {
	c.seal()
	n := 0
	for i := range c.segments[:c.used] {
		s := &c.segments[i]
		if s.values.Len() == 0 {
			continue
		}
		e.recorded = append(e.recorded, recordedRun{name: r.name(s.number), table: r.ordinal, n: s.values.Len()})
		n += s.values.Len()
	}
	if n == 0 {
		return
	}
	e.part(partCreates, r, n)
	for i := range c.segments[:c.used] {
		e.items(r.typ, &r.links, c.segments[i].values)
	}
}

// puts encodes the puts of a table, by shard. Puts to one item are in one shard, so the
// last one is still the last.
func (e *encoder) puts(r *Recorder, c *tableBuffer) {
	n := c.commands()
	if n == 0 {
		return
	}
	e.part(partPuts, r, n)
	for shard := range c.put.All {
		p := &c.puts[shard]
		for i, id := range p.IDs {
			e.handle(id)
			e.items(r.typ, &r.links, p.Values.Sub(i, i+1, r.typ.Size))
		}
	}
}

// sets encodes the last command of each create of the call, and all others.
func (e *encoder) sets(s *Sets) {
	// Repeated staged commands are left out: only the last one has an effect.
	n := s.setCount + s.commands()
	if n == 0 {
		return
	}
	a, t := s.log, s.log.typ
	e.part(a.part(), a.table, 0)
	e.out = binary.AppendUvarint(e.out, uint64(a.index)+1)
	e.out = binary.AppendUvarint(e.out, uint64(n))
	value := func(id handle.ID, values items.Slice, i int, unset bool) {
		e.handle(id)
		switch {
		case unset:
			e.out = append(e.out, 0)
			return
		case a.optional:
			e.out = append(e.out, 1)
		}
		e.items(t, &a.links, values.Sub(i, i+1, t.Size))
	}
	for i := range s.staged[:s.used] {
		st := &s.staged[i]
		name := a.table.name(s.creates.segments[i].number)
		st.set.each(func(offset int) { value(name+handle.ID(offset), st.values, offset, st.unset.has(offset)) })
	}
	for shard := range s.put.All {
		p := &s.puts[shard]
		for i, id := range p.IDs {
			value(id, p.Values, i, p.IsUnset(i))
		}
	}
}

// part returns the kind of the attachment's part.
func (a *SetLog) part() uint8 {
	if a.optional {
		return partOptional
	}
	return partSets
}

// erases encodes a list of erases, unless it is empty.
func (e *encoder) erases(kind uint8, r *Recorder, ids []handle.ID) {
	if len(ids) == 0 {
		return
	}
	e.part(kind, r, len(ids))
	for _, id := range ids {
		e.handle(id)
	}
}

func (e *encoder) handle(id handle.ID) {
	e.out = binary.LittleEndian.AppendUint64(e.out, uint64(e.name(id)))
}

// items encodes values of one type, without their number.
func (e *encoder) items(t *items.Type, l *links, values items.Slice) {
	n, from := values.Len(), len(e.out)
	switch {
	case t.Digest.Empty():
		// Without a byte per item, few bytes could claim any number of items.
		e.out = append(e.out, make([]byte, n)...)
	// Values without handles are encoded in one run.
	case !l.any():
		e.out = t.AppendItems(e.out, values)
	default:
		for i := range n {
			v := values.Pointer(i, t.Size)
			e.renaming.rename(l, t, v)
			e.out = t.AppendItem(e.out, v)
			// References may be shared with values that are not encoded yet, and belong to
			// the caller.
			e.renaming.undo()
		}
	}
	if t.Digest.Recursive() {
		e.readBack(t, n, e.out[from:])
	}
}

// readBack checks that recursive items can be decoded: a record that cannot would end the
// log.
func (e *encoder) readBack(t *items.Type, n int, encoded []byte) {
	e.trial.Reset(encoded)
	t.ReadItems(&e.trial, t.Make(n))
	if err := e.trial.Err(); err != nil && e.err == nil {
		e.err = err
	}
	e.trial.Reset(nil)
}

// name returns the encoded form of a handle.
func (e *encoder) name(id handle.ID) handle.ID {
	if !id.IsProvisional() {
		return id
	}
	stale := id >> typeShift << typeShift
	r := e.inbox.recorderOf(id)
	// Another queue has the create, or none.
	if r == nil || !r.isProvisional(id) || r.ordinal >= len(e.buf.tables) || e.buf.tables[r.ordinal] == nil {
		return stale
	}
	return stale | handle.ID(e.buf.tables[r.ordinal].number(id))
}

// number returns a create's number in this buffer, from 1, or 0.
func (c *tableBuffer) number(id handle.ID) int {
	c.seal()
	segment, offset := split(id)
	before := 0
	for i := range c.segments[:c.used] {
		n := c.segments[i].values.Len()
		if c.segments[i].number == segment && offset < n {
			return before + offset + 1
		}
		before += n
	}
	return 0
}
