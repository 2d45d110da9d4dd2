package goalloc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// TypeNames knows the types of one execution trace. The nil TypeNames knows
// none.
type TypeNames struct {
	generations []map[uint64]goType // by generation, in the order of the text; then by number
}

// goType is one type of the traced program. Its address tells it from others
// of the same name.
type goType struct {
	address uint64
	name    string
}

// ReadTypeNames reads what "go tool trace -d=wire FILE" prints and keeps the
// types of it. The name is what errors call the text. Text that breaks off
// within the types is an error that names the line; text without any types is
// one too.
func ReadTypeNames(r io.Reader, name string) (*TypeNames, error) {
	// A batch has at most 64 KiB; quoted, a byte may take four.
	src := newSource(r, name, 1<<20)
	names := &TypeNames{}
	types := 0
	current := "" // the number of the generation, as the text has it
	for {
		text, ok := src.next()
		if !ok {
			break
		}
		if gen, ok := generationOf(text); ok && gen != current {
			current = gen
			names.generations = append(names.generations, map[uint64]goType{})
		}
		if !bytes.HasPrefix(text, []byte("ExperimentalBatch ")) {
			continue
		}
		n, err := names.readBatch(src)
		if err != nil {
			return nil, err
		}
		types += n
	}
	if err := src.err(); err != nil {
		return nil, err
	}
	if types == 0 {
		return nil, src.fault(errors.New("no types in the text; want that of: go tool trace -d=wire, of a trace taken with GODEBUG=traceallocfree=1"))
	}
	return names, nil
}

// lookup returns the type that generation (counted from 1) numbered id.
func (t *TypeNames) lookup(generation, id uint64) (goType, bool) {
	if t == nil || generation == 0 || generation > uint64(len(t.generations)) {
		return goType{}, false
	}
	found, ok := t.generations[generation-1][id]
	return found, ok
}

// generationOf returns the number of the generation that a batch belongs to.
func generationOf(text []byte) (string, bool) {
	if !bytes.HasPrefix(text, []byte("EventBatch ")) && !bytes.HasPrefix(text, []byte("ExperimentalBatch ")) {
		return "", false
	}
	_, rest, ok := bytes.Cut(text, []byte(" gen="))
	gen, _, _ := bytes.Cut(rest, space)
	return string(gen), ok
}

// readBatch reads the data line of a batch into the latest generation and
// returns how many types it held.
func (t *TypeNames) readBatch(src *source) (int, error) {
	text, ok := src.next()
	if !ok {
		if err := src.err(); err != nil {
			return 0, err
		}
		return 0, src.fault(errors.New("the text ends before the data of this batch"))
	}
	quoted, ok := bytes.CutPrefix(text, []byte("\tdata="))
	data, err := strconv.Unquote(string(quoted))
	if !ok || err != nil {
		return 0, src.fault(fmt.Errorf("unreadable data %s of an experimental batch", quote(text)))
	}
	const typesBatch = 0 // first byte of a batch of types; others tell of the heap
	if len(t.generations) == 0 || data == "" || data[0] != typesBatch {
		return 0, nil
	}
	n, err := readTypes([]byte(data[1:]), t.generations[len(t.generations)-1])
	if err != nil {
		return 0, src.fault(err)
	}
	return n, nil
}

// readTypes decodes number, address, size, pointer bytes, length of the name
// and name of each type.
func readTypes(data []byte, into map[uint64]goType) (int, error) {
	n := 0
	for ; len(data) > 0; n++ {
		var fields [5]uint64
		for i := range fields {
			v, size := binary.Uvarint(data)
			if size <= 0 {
				return n, fmt.Errorf("type %d of the batch is cut off", n)
			}
			fields[i], data = v, data[size:]
		}
		length := fields[4]
		if length > uint64(len(data)) {
			return n, fmt.Errorf("the name of type %d of the batch is cut off", n)
		}
		into[fields[0]] = goType{address: fields[1], name: string(data[:length])}
		data = data[length:]
	}
	return n, nil
}
