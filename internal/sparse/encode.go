package sparse

import (
	"handloom/handle"
	"handloom/internal/digest"
)

// DigestTo writes the state, owners and items by row, to h.
func (d *Map) DigestTo(h *digest.Hash) {
	h.Uint64(uint64(len(d.owners)))
	digest.For[handle.ID]().Lasting(h, d.owners)
	d.Type.DigestItems(h, d.items)
}
