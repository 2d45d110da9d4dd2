package digest

// Tee collects the bytes that a [Hash] is given and passes them on in pieces, so
// that what is digested is encoded in the same pass.
type Tee struct {
	piece []byte // its capacity is the size of a piece
	full  func(piece []byte)
}

// NewTee returns a Tee that calls full with pieces of size bytes, good during the
// call; the last one may be shorter.
func NewTee(size int, full func(piece []byte)) *Tee {
	return &Tee{piece: make([]byte, 0, size), full: full}
}

// Tee lets t have the bytes that are added from now on. It must come before the
// first of them, and [Hash.Flush] behind the last.
func (h *Hash) Tee(t *Tee) { h.tee = t }

// Flush passes on what waits in h and in its Tee, and takes the Tee off.
func (h *Hash) Flush() {
	t := h.tee
	h.tee = nil
	t.add(h.buf[:h.length%blockSize])
	if len(t.piece) > 0 {
		t.pass()
	}
}

func (t *Tee) add(b []byte) {
	for len(b) > 0 {
		n := min(len(b), cap(t.piece)-len(t.piece))
		t.piece = append(t.piece, b[:n]...)
		if b = b[n:]; len(t.piece) == cap(t.piece) {
			t.pass()
		}
	}
}

func (t *Tee) pass() {
	t.full(t.piece)
	t.piece = t.piece[:0]
}
