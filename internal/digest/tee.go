package digest

// Tee gives away the bytes that a [Hash] is given, so that what is digested is encoded
// in the same pass.
type Tee struct {
	size int
	left int // of a piece
	add  func(b []byte, lasts bool)
	err  error
}

// Err returns why the first item that is beyond the limits of a reader cannot be read back.
func (t *Tee) Err() error { return t.err }

// NewTee returns a Tee that gives all bytes to add, in order. Pieces of size bytes, which
// must be whole blocks of 32, begin and end between two calls. What add gets is good
// during the call, and longer where lasts says that it is what [Hash.Lasting] was given.
func NewTee(size int, add func(b []byte, lasts bool)) *Tee {
	return &Tee{size: size, left: size, add: add}
}

// Tee lets t have the bytes that are added from now on, from the beginning of a piece.
// It must come before the first of them, and [Hash.Flush] behind the last.
func (h *Hash) Tee(t *Tee) {
	t.left = t.size
	h.tee = t
}

// Flush gives away what waits in h, and takes the Tee off.
func (h *Hash) Flush() {
	if rest := h.buf[:h.length%blockSize]; len(rest) > 0 {
		h.tee.add(rest, false)
	}
	h.tee = nil
}

const (
	// nearBytes are given away and hashed at a time: memory that is far is read once, and
	// near for whoever comes second (op=save).
	nearBytes = 4 << 10
	// lastingBytes are worth a part of their own.
	lastingBytes = 4 << 10
)

// Lasting is [Hash.Bytes] of memory that stays as it is until nobody looks any more at
// what a Tee gave away: it need not be copied.
func (h *Hash) Lasting(b []byte) {
	if h.tee == nil || len(b) < lastingBytes {
		h.Bytes(b)
		return
	}
	head := -h.length % blockSize
	h.Bytes(b[:head])
	b = b[head:]
	for len(b) >= blockSize {
		part := b[:min(len(b)&^(blockSize-1), h.tee.left)]
		h.length += uint64(len(part))
		h.blocks(part) // before others look at it, who may be slower to read ahead
		h.tee.give(part, true)
		b = b[len(part):]
	}
	h.Bytes(b)
}

// take gives away the whole blocks of b, and h takes them.
func (t *Tee) take(h *Hash, b []byte) {
	for b = b[:len(b)&^(blockSize-1)]; len(b) > 0; {
		part := b[:min(len(b), nearBytes, t.left)]
		t.give(part, false)
		h.blocks(part)
		b = b[len(part):]
	}
}

func (t *Tee) give(b []byte, lasts bool) {
	if t.left -= len(b); t.left == 0 {
		t.left = t.size
	}
	t.add(b, lasts)
}
