package batch

import "encoding/binary"

// EditInput returns an input of the calls of encoded for whose number, from 0, keep returns true,
// and then the calls of add. It also returns the number of calls of the result. A nil keep keeps
// all. It reads both inputs as [Batch.PutInput] does, with the same errors, and leaves the batch
// unchanged.
func (b *Batch) EditInput(encoded []byte, keep func(call int) bool, add []byte) (edited []byte, calls int, err error) {
	logged, err := b.splitInput(encoded)
	if err != nil {
		return nil, 0, err
	}
	added, err := b.splitInput(add)
	if err != nil {
		return nil, 0, err
	}
	var kept [][]byte
	for i, call := range logged {
		if keep == nil || keep(i) {
			kept = append(kept, call)
		}
	}
	kept = append(kept, added...)
	if len(kept) == 0 {
		return nil, 0, nil
	}
	if len(encoded) == 0 {
		encoded = add
	}
	edited = binary.AppendUvarint(encoded[:1:1], uint64(len(kept))) // the version comes first
	for _, call := range kept {
		edited = append(edited, call...)
	}
	return edited, len(kept), nil
}

// splitInput returns the calls of an input. They alias it.
func (b *Batch) splitInput(encoded []byte) (calls [][]byte, err error) {
	if len(encoded) == 0 {
		return nil, nil
	}
	if err := b.PutInput(encoded, nil); err != nil {
		return nil, err
	}
	defer b.input.finish()
	ends := b.input.ends
	for i, end := range ends[1:] {
		calls = append(calls, encoded[ends[i]:end])
	}
	return calls, nil
}
