package dense

import (
	"handloom/internal/digest"
)

// Digest returns a number for the whole state: slots, freelist, order, items and columns.
// It takes O(slots + Len()) time.
func (d *Set) Digest() uint64 {
	var h digest.Hash
	d.DigestTo(&h)
	return h.Sum()
}

// ItemsDigest is Digest without the columns.
func (d *Set) ItemsDigest() uint64 {
	var h digest.Hash
	d.digestItems(&h)
	return h.Sum()
}

// DigestTo writes the state to h, in the order in which [Set.Load] reads it.
func (d *Set) DigestTo(h *digest.Hash) {
	d.digestItems(h)
	for _, c := range d.Columns() {
		c.digest(h, len(d.meta))
	}
}

// digestItems writes everything except the columns.
func (d *Set) digestItems(h *digest.Hash) {
	d.set.Digest(h) // the words of live slots contain the row order
	d.ordering().digest(h)
	d.typ.DigestItems(h, d.items)
}
