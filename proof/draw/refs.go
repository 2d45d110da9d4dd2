package draw

import (
	"slices"

	"handloom/proof/script"
)

// name returns the first of n new names.
func (d *drawing) name(n int) int {
	first := d.next
	d.next += max(n, 1)
	return first
}

// ref draws a handle for an operation on a table. inChunk says that the task
// has a chunk of the table.
func (d *drawing) ref(table int, inChunk bool) script.Ref {
	if inChunk && d.chance(0.4) {
		// A row past the end of the chunk is the null handle.
		return script.Ref{Kind: script.Row, N: d.IntN(6)}
	}
	r := d.honest(table)
	if d.chance(d.theme.forged) {
		d.forge(&r)
	}
	return r
}

// few is the number of recent items to prefer, some of them created in this
// frame.
const few = 6

// honest draws a handle known to the program: of a live, recorded or erased
// item.
func (d *drawing) honest(table int) script.Ref {
	// A handle of another table is stale in a typed command.
	if d.chance(0.04) { // of any table
		table = d.IntN(len(d.known))
	}
	known := d.known[table]
	switch {
	case len(d.dead) > 0 && d.chance(d.theme.stale):
		return script.Ref{N: d.dead[d.IntN(len(d.dead))], Kind: d.kind()}
	case len(known.pending) > 0 && d.chance(0.4):
		return script.Ref{N: known.pending[d.IntN(len(known.pending))], Kind: d.kind()}
	case len(known.live) > 0 && d.chance(d.theme.fresh):
		return script.Ref{N: known.live[len(known.live)-1-d.IntN(min(len(known.live), few))]}
	case len(known.live) > 0:
		return script.Ref{N: known.live[d.IntN(len(known.live))]}
	// Any name, bound or not.
	case d.next > 1:
		return script.Ref{N: 1 + d.IntN(d.next-1), Kind: d.kind()}
	}
	return script.Ref{Kind: script.Raw}
}

// kind draws the kind of a reference to a name, rarely the provisional handle.
func (d *drawing) kind() script.RefKind {
	if d.IntN(6) == 0 {
		return script.Provisional
	}
	return script.Named
}

// forge forges a reference, sometimes more than once.
func (d *drawing) forge(r *script.Ref) {
	f := script.Forge{Kind: script.ForgeKind(d.IntN(5))}
	switch f.Kind {
	case script.FlipBit:
		f.N = d.oneOf(d.IntN(64), d.IntN(64), 63, 32, 0)
	case script.OtherTable:
		f.N = d.IntN(len(d.known))
	}
	if d.IntN(12) == 0 {
		*r = script.Ref{Kind: script.Raw, Bits: d.bits()}
		return
	}
	r.Forge = append(r.Forge, f)
	if d.IntN(4) == 0 {
		d.forge(r)
	}
}

// elsewhere is a handle of another store, with the last typeId.
const elsewhere = 0x7ffe<<48 | 1<<32

// bits draws a raw handle: null, all bits, a handle of the random numbers, a likely handle
// or any.
func (d *drawing) bits() uint64 {
	switch d.IntN(5) {
	case 0:
		return 0
	case 1:
		return 1<<64 - 1
	case 3:
		return elsewhere
	case 2:
		return uint64(1+d.IntN(8))<<48 | uint64(d.IntN(4))<<32 | uint64(d.IntN(20))
	}
	return d.Uint64() &^ (1 << 63)
}

// refs draws n references.
func (d *drawing) refs(table, n int, inChunk bool) []script.Ref {
	all := make([]script.Ref, n)
	for i := range all {
		all[i] = d.ref(table, inChunk)
	}
	return all
}

// links draws the links of a value, to items of any one table.
func (d *drawing) links(inChunk bool) []script.Ref {
	if !d.chance(d.theme.links) {
		return nil
	}
	return d.refs(d.index(), 1+d.IntN(3), inChunk)
}

// run draws a run of consecutive names, which a bulk command needs.
func (d *drawing) run(table int) script.Ref {
	r := d.honest(table)
	if r.Kind != script.Raw {
		r.Count = min(d.oneOf(1, 2, 5, 20, 100), d.next-r.N)
	}
	return r
}

// flushCreates marks flushed creates as live, roughly.
func (d *drawing) flushCreates() {
	for _, k := range d.known {
		k.live = append(k.live, k.pending...)
		k.pending = nil
		// Drawing deletes from the middle of the list, so it stays short.
		if len(k.live) > 5000 {
			k.live = slices.Delete(k.live, 0, len(k.live)-5000)
		}
	}
}

// gone moves names from live to dead. Whether the erase is applied does not matter here.
func (d *drawing) gone(table int, refs []script.Ref) {
	k := d.known[table]
	for _, r := range refs {
		first, n := r.Names()
		for i := first; i < first+n; i++ {
			if at := slices.Index(k.live, i); at >= 0 {
				k.live = slices.Delete(k.live, at, at+1)
			}
			d.dead = append(d.dead, i)
		}
	}
	if len(d.dead) > 2000 {
		d.dead = slices.Delete(d.dead, 0, len(d.dead)-1000)
	}
}

// cleared moves all names of a table to dead, or some if it has many.
func (d *drawing) cleared(table int) {
	k := d.known[table]
	// Erased names stay useful as stale handles.
	d.dead = append(d.dead, k.live[:min(len(k.live), 200)]...)
	k.live = nil
}
