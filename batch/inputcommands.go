package batch

import (
	"encoding/binary"
	"fmt"
	"reflect"

	"handloom/internal/digest"
	"handloom/internal/entrance"
	"handloom/internal/items"
)

// DecodeInput returns the commands of the calls of an input, in their order. It reads encoded as
// [Batch.PutInput] does, with the same errors, and leaves the batch unchanged.
func (b *Batch) DecodeInput(encoded []byte) ([][]entrance.Command, error) {
	// PutInput checks the whole input, so the reader below meets a valid one.
	split, err := b.splitInput(encoded)
	if err != nil {
		return nil, err
	}
	calls := make([][]entrance.Command, len(split))
	for i, call := range split {
		d := commandReader{batch: b}
		d.in.Reset(call)
		for d.part() {
		}
		if d.in.Err() != nil {
			return nil, fmt.Errorf("%w: call %d: %w", entrance.ErrInput, i+1, d.in.Err())
		}
		calls[i] = d.commands
	}
	return calls, nil
}

// splitInput returns the calls of an input. They alias it.
func (b *Batch) splitInput(encoded []byte) (calls [][]byte, err error) {
	if len(encoded) == 0 {
		return nil, nil
	}
	if err := b.PutInput(encoded, nil); err != nil {
		return nil, err
	}
	// PutInput has added the calls; they leave the batch at once.
	defer b.input.finish()
	ends := b.input.ends
	for i, end := range ends[1:] {
		calls = append(calls, encoded[ends[i]:end])
	}
	return calls, nil
}

// EncodeInput returns the input of calls, or nil if no call has a command. The creates of a call
// precede its other commands. It fails for a command without a fitting table or value.
func (b *Batch) EncodeInput(calls [][]entrance.Command) (encoded []byte, err error) {
	n := 0
	for _, call := range calls {
		// A call without commands has no encoding: PutInput refuses it.
		if len(call) > 0 {
			n++
		}
	}
	if n == 0 {
		return nil, nil
	}
	encoded = binary.AppendUvarint([]byte{inputVersion}, uint64(n))
	for i, call := range calls {
		if len(call) == 0 {
			continue
		}
		// A provisional handle resolves only after the create is read (see [decoder.name]).
		for _, creates := range []bool{true, false} {
			for k := range call {
				if (call[k].Kind == Create.String()) != creates {
					continue
				}
				if encoded, err = b.appendCommand(encoded, &call[k]); err != nil {
					return nil, fmt.Errorf("call %d, command %d: %w", i+1, k+1, err)
				}
			}
		}
		encoded = append(encoded, partEnd)
	}
	return encoded, nil
}

const eraseAll = "erase all"

// A commandReader reads a valid call. It checks nothing that PutInput has checked.
type commandReader struct {
	batch    *Batch
	in       digest.Reader
	commands []entrance.Command
}

// part reads a part, and reports whether another one follows.
func (d *commandReader) part() bool {
	kind := d.in.Uint8()
	if kind == partEnd || d.in.Err() != nil {
		return false
	}
	c := entrance.Command{Table: -1, Part: ToTable}
	var r *Recorder
	if kind != partUnknown {
		c.Table = d.in.Count(len(d.batch.tables), "as a table") - 1
		r = d.batch.tables[c.Table]
	}
	switch kind {
	case partCreates:
		d.each(c, Create, r.typ)
	case partPuts:
		d.each(c, Put, r.typ)
	case partErases, partUnknown:
		d.each(c, Erase, nil)
	case partEraseAll:
		c.Kind = eraseAll
		d.commands = append(d.commands, c)
	case partSets, partOptional:
		if c.Part = d.in.Count(len(r.attachments), "as an attachment") - 1; c.Part < 0 {
			return false
		}
		d.each(c, Set, r.attachments[c.Part].typ)
	}
	return d.in.Err() == nil
}

// each reads the commands of a part.
func (d *commandReader) each(c entrance.Command, kind Kind, t *items.Type) {
	// Only values of optional attachments have the byte that marks a Set.
	optional := kind == Set && d.batch.tables[c.Table].attachments[c.Part].optional
	for range d.in.Count(d.in.Remaining(), "commands") {
		next, kind := c, kind
		if kind != Create {
			next.ID = d.in.Uint64()
		}
		if optional && d.in.Uint8() == 0 {
			kind = Unset
		}
		next.Kind = kind.String()
		if t != nil && kind != Unset {
			next.Value = d.value(t)
		}
		d.commands = append(d.commands, next)
	}
}

// value reads a value into memory of its own, which the caller keeps.
func (d *commandReader) value(t *items.Type) any {
	v := t.Make(1)
	if t.Digest.Empty() {
		d.in.Bytes(1)
	} else {
		t.ReadItem(&d.in, v.Data())
	}
	return t.Any(v.Data())
}

// appendCommand appends a part with one command.
func (b *Batch) appendCommand(dst []byte, c *entrance.Command) ([]byte, error) {
	r, t, err := b.recorderFor(c)
	if err != nil {
		return nil, err
	}
	const one = 1
	e := encoder{out: dst}
	switch c.Kind {
	case Create.String():
		e.part(partCreates, r, one)
	case Put.String():
		e.part(partPuts, r, one)
	case Erase.String():
		kind := uint8(partErases)
		if r == nil {
			kind = partUnknown
		}
		e.part(kind, r, one)
	case eraseAll:
		e.part(partEraseAll, r, 0)
		return e.out, nil
	default:
		a := r.attachments[c.Part]
		e.part(a.part(), r, 0)
		e.out = binary.AppendUvarint(e.out, uint64(a.index)+1)
		e.out = binary.AppendUvarint(e.out, one)
	}
	// A create has no handle; its number in the call is its name.
	if c.Kind != Create.String() {
		e.out = binary.LittleEndian.AppendUint64(e.out, c.ID)
	}
	switch {
	case c.Kind == Unset.String():
		return append(e.out, 0), nil
	// Falls through to the value: a Set is a 1 and the value.
	case c.Kind == Set.String() && r.attachments[c.Part].optional:
		e.out = append(e.out, 1)
	}
	switch {
	case t == nil:
	case t.Digest.Empty():
		e.out = append(e.out, 0)
	default:
		e.out = t.AppendItem(e.out, reflect.ValueOf(c.Value).UnsafePointer())
	}
	return e.out, nil
}

// recorderFor returns the table of a command and the type of its value; both may be nil.
func (b *Batch) recorderFor(c *entrance.Command) (r *Recorder, t *items.Type, err error) {
	if c.Table >= 0 && c.Table < len(b.tables) {
		r = b.tables[c.Table]
	}
	var k Kind
	// An erase without a table has an unknown typeId. All other commands need a table.
	valid := c.Kind == eraseAll || k.UnmarshalText([]byte(c.Kind)) == nil
	switch {
	case !valid, r == nil && (c.Table >= 0 || c.Kind != Erase.String()):
		return nil, nil, fmt.Errorf("got kind %q of table %d of %d", c.Kind, c.Table, len(b.tables))
	case c.Kind == Create.String() || c.Kind == Put.String():
		t = r.typ
	case c.Kind == Set.String() || c.Kind == Unset.String():
		if c.Part < 0 || c.Part >= len(r.attachments) {
			return nil, nil, fmt.Errorf("got column or sparse data %d of %d", c.Part, len(r.attachments))
		}
		a := r.attachments[c.Part]
		if c.Kind == Unset.String() && !a.optional {
			return nil, nil, fmt.Errorf("got an unset of a column")
		}
		t = a.typ
	}
	if t != nil && c.Kind != Unset.String() && reflect.TypeOf(c.Value) != reflect.PointerTo(t.Reflect) {
		return nil, nil, fmt.Errorf("got a value of type %T, want %v", c.Value, reflect.PointerTo(t.Reflect))
	}
	return r, t, nil
}
