package draw

import (
	"fmt"

	"handloom/proof/script"
)

// tables draws one or a few tables; in a rare kind of program, a thousand.
func (d *drawing) tables() {
	n := d.oneOf(1, 1, 2, 2, 3, 4, 6)
	if d.program.Seed%500 == 0 { // so that consecutive seeds include one
		n = 1000
	}
	for i := range n {
		t := d.table(n)
		t.Name = fmt.Sprintf("t%d", i)
		// Without a drawn number, so that the option changes no other draw.
		if (d.program.Seed+uint64(i))%8 == 3 {
			t.Events = 1
		}
		d.program.Tables = append(d.program.Tables, t)
		d.known = append(d.known, new(population))
	}
	d.sizes()
}

// table draws the options of a table, of n.
func (d *drawing) table(n int) script.Table {
	t := script.Table{
		Kind: script.Packed, Item: script.Items[d.IntN(len(script.Items))],
		Shards: d.oneOf(1, 1, 1, 2, 3, 4, 8, 64), Chunk: d.oneOf(0, 1, 2, 5, 16, 64),
	}
	if d.IntN(3) == 0 {
		t.Item = script.Rich
	}
	if d.IntN(3) == 0 {
		t.Kind = script.Stable
	}
	// A thousand tables with many shards would take too long.
	if n > 10 {
		t.Shards, t.Item = d.oneOf(1, 1, 1, 2), script.Word
	}
	if d.IntN(4) == 0 {
		t.MinFree = d.oneOf(1, 3, 10, 64)
	}
	if d.IntN(5) == 0 {
		t.Max = d.oneOf(1, 5, 12, 100)
	}
	if d.IntN(6) == 0 {
		t.Reserve = d.oneOf(1, 10, 1000)
	}
	// The store refuses options above the number of slots.
	if slots := d.program.Narrow.Slots; slots > 0 {
		t.MinFree, t.Max, t.Reserve = min(t.MinFree, slots), min(t.Max, slots), min(t.Reserve, slots)
	}
	if t.Max > 0 {
		t.Reserve = min(t.Reserve, t.Max)
	}
	t.Changes = d.oneOf(0, 0, 1)
	if t.Kind == script.Packed {
		t.Fixed = d.oneOf(0, 0, 0, 1)
	}
	return t
}

// sizes draws the sizes of bulk operations: near the chunk size of the first
// table, or large.
func (d *drawing) sizes() {
	chunk := max(d.program.Tables[0].Chunk, 1)
	d.theme.items = d.oneOf(200, 500, 1000, 2000)
	// Faults are likely at the edge of a chunk.
	d.theme.sizes = []int{0, 1, 1, 2, 3, chunk - 1, chunk, chunk + 1, 3*chunk + 1}
	switch slots := d.program.Narrow.Slots; {
	case slots > 0:
		d.theme.sizes = append(d.theme.sizes, slots-1, slots, slots+1)
	case d.IntN(16) == 0:
		d.theme.sizes = append(d.theme.sizes, 100, 1023, 1024, 1025, 3000)
		d.theme.items = 20_000
	}
}

// size draws the size of a bulk create: near limits if the table has one.
func (d *drawing) size(table int) int {
	n := d.oneOf(d.theme.sizes...)
	if limit := d.program.Tables[table].Max; limit > 0 && d.IntN(3) == 0 {
		n = d.oneOf(limit-1, limit, limit+1)
	}
	if d.program.Narrow.Slots == 0 && d.items == 0 && d.program.Seed%500 == 250 {
		n = 1<<14 + 100 // names need a second segment
	}
	// The models take time in proportion to the items at each flush.
	if d.items > d.theme.items {
		n = min(n, 3)
	}
	d.items += n
	return n
}

// index draws a table: often the first, which is hot.
func (d *drawing) index() int {
	n := len(d.known)
	if n == 1 || d.chance(d.theme.hot) {
		return 0
	}
	if d.theme.zipf {
		i := 0
		// Each table is half as likely as the table before it.
		for i < n-1 && d.IntN(2) == 0 {
			i++
		}
		return i
	}
	return d.IntN(n)
}

// packed reports whether a table is packed.
func (d *drawing) packed(table int) bool { return d.program.Tables[table].Kind == script.Packed }
