package digest

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// The constants are the first 64 bits of the fractions of the square roots of the primes 2
// to 19, so none was chosen by hand. The multipliers are odd, so multiplication loses no
// bit.
const (
	seed0 = 0x6a09e667f3bcc908 // 2
	seed1 = 0x3c6ef372fe94f82b // 5
	seed2 = 0x510e527fade682d1 // 11
	seed3 = 0x9b05688c2b3e6c1f // 13

	mulWord = 0xbb67ae8584caa73b // 3
	mulLane = 0xa54ff53a5f1d36f1 // 7
	mulEnd1 = 0x1f83d9abfb41bd6b // 17
	mulEnd2 = 0x5be0cd19137e2179 // 19
)

const (
	blockSize = 32 // bytes: one word for each lane
	wordSize  = 8
)

// Hash is a streaming 64-bit hash over bytes. The zero Hash is ready to use. A copy of a Hash
// continues on its own. One goroutine at a time may use it.
//
// Uint16(0x0201) is the same as Uint8(1) and Uint8(2).
type Hash struct {
	lanes [4]uint64 // each is lane ^ seed, so that the zero Hash is ready

	// buf[:length%blockSize] is an incomplete block. The extra word lets a number be stored
	// before it is split.
	buf    [blockSize + wordSize]byte
	length uint64

	tee *Tee // may be nil
}

func (h *Hash) Uint8(v uint8) {
	at := h.length % blockSize
	h.buf[at] = v
	h.length++
	if at == blockSize-1 {
		h.nextBlock()
	}
}

func (h *Hash) Uint16(v uint16) {
	// The number is stored past the end of the block if it does not fit; nextBlock moves
	// the rest.
	at := h.length % blockSize
	binary.LittleEndian.PutUint16(h.buf[at:], v)
	h.length += 2
	if at >= blockSize-2 {
		h.nextBlock()
	}
}

func (h *Hash) Uint32(v uint32) {
	at := h.length % blockSize
	binary.LittleEndian.PutUint32(h.buf[at:], v)
	h.length += 4
	if at >= blockSize-4 {
		h.nextBlock()
	}
}

func (h *Hash) Uint64(v uint64) {
	at := h.length % blockSize
	binary.LittleEndian.PutUint64(h.buf[at:], v)
	h.length += 8
	if at >= blockSize-8 {
		h.nextBlock()
	}
}

// String omits the length.
func (h *Hash) String(s string) {
	h.Bytes(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// Bytes omits the length and keeps no reference to b.
func (h *Hash) Bytes(b []byte) {
	at := h.length % blockSize
	h.length += uint64(len(b))
	if at > 0 {
		n := copy(h.buf[at:blockSize], b)
		if at+uint64(n) < blockSize {
			return
		}
		b = b[n:]
		h.take(h.buf[:blockSize])
	}
	if len(b) >= blockSize {
		h.take(b)
		b = b[len(b)&^(blockSize-1):]
	}
	copy(h.buf[:blockSize], b)
}

// nextBlock hashes the full block and keeps the bytes of a number past it.
func (h *Hash) nextBlock() {
	h.take(h.buf[:blockSize])
	copy(h.buf[:wordSize], h.buf[blockSize:])
}

// take hashes the whole blocks of b.
func (h *Hash) take(b []byte) {
	if h.tee != nil {
		h.tee.take(h, b)
		return
	}
	h.blocks(b)
}

// blocks hashes the whole blocks of b.
func (h *Hash) blocks(b []byte) {
	l0, l1, l2, l3 := h.lanes[0]^seed0, h.lanes[1]^seed1, h.lanes[2]^seed2, h.lanes[3]^seed3
	for ; len(b) >= blockSize; b = b[blockSize:] {
		l0 = absorb(l0, binary.LittleEndian.Uint64(b))
		l1 = absorb(l1, binary.LittleEndian.Uint64(b[8:]))
		l2 = absorb(l2, binary.LittleEndian.Uint64(b[16:]))
		l3 = absorb(l3, binary.LittleEndian.Uint64(b[24:]))
	}
	h.lanes = [4]uint64{l0 ^ seed0, l1 ^ seed1, l2 ^ seed2, l3 ^ seed3}
}

// The word is multiplied too, so that no other single bit can undo a flipped high bit.
func absorb(lane, word uint64) uint64 {
	return bits.RotateLeft64(lane^word*mulWord, 29) * mulLane
}

// Sum takes O(1) time. More bytes may follow.
func (h *Hash) Sum() uint64 {
	// A copy, so that more bytes may follow.
	end := *h
	if at := h.length % blockSize; at > 0 {
		clear(end.buf[at:])
		end.blocks(end.buf[:blockSize])
	}
	// The length goes first, because only it distinguishes padding from zero bytes.
	sum := absorb(h.length, end.lanes[0]^seed0)
	sum = absorb(sum, end.lanes[1]^seed1)
	sum = absorb(sum, end.lanes[2]^seed2)
	sum = absorb(sum, end.lanes[3]^seed3)
	sum = (sum ^ sum>>32) * mulEnd1
	sum = (sum ^ sum>>29) * mulEnd2
	return sum ^ sum>>32
}
