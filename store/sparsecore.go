package store

import (
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/items"
	"handloom/internal/sparse"
)

// sparseData is the untyped core of a [Sparse].
type sparseData struct {
	component
	shards  [MaxShards]*sparse.Map // by typeId & 63; unused entries are empty
	chunk   int                    // rows of a chunk
	pass    pass
	changes []sparseChanges // by shard; nil without Changes
}

// add adds the data to the table; on failure neither has changed.
func (c *sparseData) add(t *table, o columnOptions, typ *items.Type) error {
	c.what, c.element = isSparse, c.item
	return c.component.add(t, "AddSparse", o, typ, func() {
		c.forget()
		c.changes = c.newChanges()
		for i, sh := range t.order {
			data := sparse.New(typ)
			c.shards[(int(t.first)+i)%MaxShards] = data
			sh.AddSparse(data, c.name, c.number, c.fields, c.visitor, c.onChange(i))
		}
		c.chunk = options{}.chunkRows(typ.Size + unsafe.Sizeof(ID(0)))
		c.pass.init(domain{t, c})
		t.sparse = append(t.sparse, c)
		t.copying.addSparse(t.name, c.name, typ, o.clone)
	})
}

// newChanges returns empty lists, or nil without Changes.
func (c *sparseData) newChanges() (all []sparseChanges) {
	if c.tracked {
		c.written.sparse = c
		for i := range c.table.order {
			all = append(all, sparseChanges{data: c, index: i})
		}
	}
	return all
}

// forget makes the lookups find nothing.
func (c *sparseData) forget() { fill(c.shards[:], sparse.New(c.typ)) }

func (c *sparseData) shard(shard int) *sparse.Map {
	return c.shards[(int(c.table.first)+shard)%MaxShards]
}

// rowChanges is table.rowChanges of the rows of the data.
func (c *sparseData) rowChanges() (sum uint64) {
	for i := range c.table.order {
		sum += c.shard(i).Changes()
	}
	return sum
}

func (c *sparseData) len() int {
	n := 0
	for i := range c.table.order {
		n += c.shard(i).Len()
	}
	return n
}

// item returns the address of the data of the item id, or nil.
func (c *sparseData) item(id ID) unsafe.Pointer {
	if !c.table.owns(id) {
		return nil
	}
	data := c.shard(int(id.TypeID() - c.table.first))
	if !data.Has(id) {
		return nil
	}
	row, _ := data.Row(id)
	return data.At(row)
}

// put returns the address for the new value of the item id, or nil without such an item.
func (c *sparseData) put(w *Writer, id ID) unsafe.Pointer {
	if check.Full {
		defer w.alone("Put")()
	}
	t := c.table
	w.useComponent(t, "Put")
	if t.store.probe != nil {
		t.store.probe.writesItem(c, id)
	}
	if !t.has(id) {
		return nil
	}
	shard := int(id.TypeID() - t.first)
	data := c.shard(shard)
	var place unsafe.Pointer
	if row, ok := data.Row(id); ok {
		place = data.At(row)
	}
	if c.tracked {
		c.changeAtOnce(w, shard, id, place, true)
	}
	if place == nil {
		data.Reserve(1, t.order[shard].Map.Stats().Slots)
		place = data.Append(id)
	}
	return place
}

func (c *sparseData) remove(w *Writer, id ID) bool {
	if check.Full {
		defer w.alone("Remove")()
	}
	t := c.table
	w.useComponent(t, "Remove")
	if t.store.probe != nil {
		t.store.probe.writesItem(c, id)
	}
	if !t.has(id) {
		return false
	}
	shard := int(id.TypeID() - t.first)
	data := c.shard(shard)
	row, ok := data.Row(id)
	if !ok {
		return false
	}
	if c.tracked {
		c.changeAtOnce(w, shard, id, data.At(row), false)
	}
	data.Remove(id)
	return true
}

func (c *sparseData) sortAsTable(w *Writer) {
	if check.Full {
		defer w.alone("SortAsTable")()
	}
	w.use(c.table, "SortAsTable")
	for i, sh := range c.table.order {
		data := c.shard(i)
		data.SortAs(sh.Map)
	}
}

// drop removes all sparse data of the item id, which is erased at once.
func (t *table) drop(id ID) {
	if !t.owns(id) {
		return
	}
	for _, c := range t.sparse {
		c.shard(int(id.TypeID() - t.first)).Remove(id)
	}
}

func (p *pass) sparseChunk(index int) SparseChunk[untyped, untyped] {
	shard, lo, hi := p.chunks.find(index)
	c := p.sparse.rows(shard, lo, hi, index)
	c.Queue, c.pass, c.row, c.serial = Queue(p.queues.Queue(index)), p, lo, p.serial
	c.wrote = p.sparse.written.notesOf(index)
	return c
}

// rows returns a run of rows, read-only unless it gets a queue.
func (c *sparseData) rows(shard, lo, hi, index int) SparseChunk[untyped, untyped] {
	data := c.shard(shard)
	hi = min(hi, data.Rows())
	values, owners := data.Range(lo, hi), data.Owners(lo, hi)
	return SparseChunk[untyped, untyped]{
		Items: *(*[]untyped)(unsafe.Pointer(&values)), Owners: *(*[]Handle[untyped])(unsafe.Pointer(&owners)), Index: index, pass: &reducing,
	}
}
