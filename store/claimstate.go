package store

import (
	"cmp"
	"fmt"
	"strings"
)

// Schema returns a text of what has to be the same wherever a tick is run again: names,
// typeIds, item types and options of the tables, in the order of registration, and the
// limits of queues and batches, Changes and Links of columns and optional data. Tables
// that differ in one of these have different texts.
func (c *Claim) Schema() string {
	var b strings.Builder
	o := &c.store.options
	fmt.Fprintf(&b, "queues of %d commands, %d bytes; batches of %d commands, %d bytes\n",
		cmp.Or(o.QueueLimit, defaultQueueLimit), o.QueueBytes, o.BatchLimit, o.BatchBytes)
	for _, t := range c.store.tables {
		fmt.Fprintf(&b, "table %q: %v; MaxItems %d, MinFree %d, ChunkItems %d, Links %t, Changes %t, FixedKeys %t\n",
			t.name, t.newCopy().image(), t.maxItems, t.minFree, t.chunk, t.visitor != nil, t.tracked, t.touched.fixedKeys)
		for _, c := range t.columns {
			if c.tracked || c.visitor != nil { // others have no line, as in the first logs
				fmt.Fprintf(&b, "column %q of table %q: Links %t, Changes %t\n", c.name, t.name, c.visitor != nil, c.tracked)
			}
		}
		for _, c := range t.sparse {
			if c.visitor != nil {
				fmt.Fprintf(&b, "optional data %q of table %q: Links true\n", c.name, t.name)
			}
		}
	}
	return b.String()
}

// Forget empties all that a program can see of the last frame: Created, Erased, Replaced
// and Written of tables, and Written of columns. Its provisional handles resolve no more.
// A snapshot has none of that. A tick that read it would come to another state when it is
// run again from a snapshot.
//
// It takes O(shards) time. The driver calls it in the Write of a tick, before the tick;
// elsewhere it panics.
func (c *Claim) Forget() {
	s := c.store
	if !s.gate.heldExclusive() {
		panic("store: Forget outside of a Write; readers may look at what it forgets, so call it inside, before the tick")
	}
	for _, t := range s.tables {
		t.forgetFrame()
	}
}

// Left returns how many commands wait for a flush, the input that was Put included, and
// the name of a table that they are for; "" for erases of handles that no table has. A
// tick that leaves some cannot be run again: they are in no snapshot. The driver calls it
// behind a tick. It takes O(queues) time.
func (c *Claim) Left() (table string, n int) {
	ordinal, n := c.store.batch.Remaining()
	if ordinal >= 0 {
		table = c.store.tables[ordinal].name
	}
	return table, n
}
