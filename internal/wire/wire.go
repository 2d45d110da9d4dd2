// Package wire parses untrusted bytes into numbers and texts, and appends texts, for
// headers of snapshots and records. Numbers are little endian.
package wire

import "encoding/binary"

// AppendText appends the length of text as 32 bits, and text.
func AppendText(b []byte, text string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	return append(b, text...)
}

// A Reader takes parts off the front of Left. An incomplete part sets Failed; it and all
// later parts are zero. Only texts allocate.
type Reader struct {
	Left   []byte
	Failed bool
}

// Cut returns the next n bytes without copying.
func (r *Reader) Cut(n uint64) []byte {
	if n > uint64(len(r.Left)) {
		r.Failed, r.Left = true, nil
		return nil
	}
	b := r.Left[:n]
	r.Left = r.Left[n:]
	return b
}

// Number reads a number of size bytes, at most 8.
func (r *Reader) Number(size int) uint64 {
	var b [8]byte
	copy(b[:], r.Cut(uint64(size)))
	return binary.LittleEndian.Uint64(b[:])
}

// Text reads the output of [AppendText].
func (r *Reader) Text() string { return string(r.Cut(r.Number(4))) }

// Done reports whether all parts were complete and nothing remains.
func (r *Reader) Done() bool { return !r.Failed && len(r.Left) == 0 }
