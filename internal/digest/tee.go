package digest

// Tee passes on the bytes of a [Hash], so that one pass digests and encodes.
type Tee struct {
	size int
	left int // in the current piece
	add  func(b []byte, lasts bool)
	err  error
}

// Err reports the first item beyond the limits of a reader.
func (t *Tee) Err() error { return t.err }

// NewTee returns a Tee that passes all bytes to add, in order. Pieces of size bytes, a
// multiple of 32, begin and end between two calls. The bytes are valid during the call, or
// longer if lasts reports that they come from [Hash.Lasting].
func NewTee(size int, add func(b []byte, lasts bool)) *Tee {
	return &Tee{size: size, left: size, add: add}
}

// Tee passes all further bytes to t, from the beginning of a piece. It must precede the
// first byte; [Hash.Flush] must follow the last.
func (h *Hash) Tee(t *Tee) {
	t.left = t.size
	h.tee = t
}

// Flush passes on the buffered bytes and detaches the Tee.
func (h *Hash) Flush() {
	if rest := h.buf[:h.length%blockSize]; len(rest) > 0 {
		h.tee.add(rest, false)
	}
	h.tee = nil
}

const (
	// nearBytes is the number of bytes passed on and hashed at a time: distant memory is
	// read once and is cached for the second reader (op=save).
	nearBytes    = 4 << 10
	lastingBytes = 4 << 10
)

// Lasting is [Hash.Bytes] for memory that does not change while the output of the Tee is in
// use, so it need not be copied.
func (h *Hash) Lasting(b []byte) {
	if h.tee == nil || len(b) < lastingBytes {
		h.Bytes(b)
		return
	}
	// Bytes up to the next block go through the buffer, so that pieces begin at a block.
	head := -h.length % blockSize
	h.Bytes(b[:head])
	b = b[head:]
	for len(b) >= blockSize {
		part := b[:min(len(b)&^(blockSize-1), h.tee.left)]
		h.length += uint64(len(part))
		h.blocks(part) // first: a later reader may prefetch less
		h.tee.give(part, true)
		b = b[len(part):]
	}
	h.Bytes(b)
}

// take passes on and hashes whole blocks, cut at the ends of pieces.
func (t *Tee) take(h *Hash, b []byte) {
	for b = b[:len(b)&^(blockSize-1)]; len(b) > 0; {
		part := b[:min(len(b), nearBytes, t.left)]
		t.give(part, false)
		h.blocks(part)
		b = b[len(part):]
	}
}

// give passes on bytes that end at most at the end of the piece.
func (t *Tee) give(b []byte, lasts bool) {
	if t.left -= len(b); t.left == 0 {
		t.left = t.size
	}
	t.add(b, lasts)
}
