// Package wire takes numbers and texts off bytes that may be anything, and appends
// texts: the heads of snapshots and records are made of both. Numbers are little endian.
// Records follow each other by [Chain].
package wire

import "encoding/binary"

// AppendText appends a text to b: its length as 32 bits, and its bytes.
func AppendText(b []byte, text string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	return append(b, text...)
}

// A Reader takes one part after the other off the front of Left. A part that is not
// whole there is zero, and so is every later one; Failed tells it. It allocates nothing but
// texts.
type Reader struct {
	Left   []byte
	Failed bool
}

// Cut takes n bytes, which stay where they are.
func (r *Reader) Cut(n uint64) []byte {
	if n > uint64(len(r.Left)) {
		r.Failed, r.Left = true, nil
		return nil
	}
	b := r.Left[:n]
	r.Left = r.Left[n:]
	return b
}

// Number takes a number of up to 8 bytes.
func (r *Reader) Number(size int) uint64 {
	var b [8]byte
	copy(b[:], r.Cut(uint64(size)))
	return binary.LittleEndian.Uint64(b[:])
}

// Text takes what [AppendText] appended.
func (r *Reader) Text() string { return string(r.Cut(r.Number(4))) }

// Done reports whether every part was there, and nothing is left.
func (r *Reader) Done() bool { return !r.Failed && len(r.Left) == 0 }
