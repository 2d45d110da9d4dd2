package batch

import "handloom/internal/highwater"

// Gather fills [Recorder.Pending] of each table: queues in key order, then sealed calls,
// and a [Recorder.EraseAll] for tables in emptied. It returns the ordinals of tables with
// commands, valid until the next call, and whether any command exists. The flush after a
// failed one gathers the same batch again, so nothing here changes commands (B4).
func (b *Batch) Gather(emptied ...int) (tables []int, found bool) {
	b.gathered = b.gathered[:0]
	b.dropped.calls, b.dropped.unknownErases = 0, 0
	for buf := range b.buffers {
		// The commands count, so the batch has commands even if all of them are dropped.
		if buf.state == dropped {
			b.gatherDropped(buf)
			found = true
			continue
		}
		key := Key{buf.pass, buf.task}
		for _, t := range buf.touched {
			b.pending(b.tables[t.ordinal]).addColumn(t.column, key)
		}
		for _, s := range buf.attached {
			b.pending(s.log.table).addSets(s, key)
		}
		for _, list := range buf.lists {
			r := b.byList[list]
			// Lists of a table are numbered by shard.
			b.pending(r).addErases(list-r.list, Erases{IDs: buf.erases[list], Key: key})
		}
		if erases := &buf.byRow; erases.list > 0 {
			r := b.byList[erases.list]
			b.pending(r).addErases(erases.list-r.list, Erases{Rows: erases.rows, Audits: erases.audits, Key: key})
		}
		for _, ordinal := range buf.all {
			b.pending(b.tables[ordinal]).addAll()
		}
		// Erases of unknown typeIds belong to no table but are commands.
		found = found || !buf.empty()
	}
	for _, ordinal := range emptied {
		b.pending(b.tables[ordinal]).addAll()
		found = true
	}
	for _, ordinal := range b.gathered {
		r := b.tables[ordinal]
		// Creation numbers need all queues of the table.
		r.Pending.number(r)
	}
	return b.gathered, found
}

// pending returns the commands of the running flush for a table, and notes the table.
func (b *Batch) pending(r *Recorder) *Commands {
	c := r.Pending
	if !c.begun {
		c.begin(int(r.shards))
		b.gathered = append(b.gathered, r.ordinal)
	}
	return c
}

// begin keeps the arrays of earlier flushes; release has emptied them.
func (c *Commands) begin(shards int) {
	c.begun, c.all, c.dropped = true, 0, 0
	if len(c.erases) < shards {
		c.erases, c.peaks.erases = make([][]Erases, shards), make([]highwater.Mark, shards)
		c.puts, c.peaks.puts = make([][]KeyedPuts, shards), make([]highwater.Mark, shards)
	}
}

// addColumn adds the creates and puts of a queue. Creates name no shard yet: the flush
// deals the survivors later.
func (c *Commands) addColumn(col *tableBuffer, key Key) {
	col.key = key
	col.seal()
	c.columns = append(c.columns, col)
	for shard := range col.put.All {
		c.puts[shard] = append(c.puts[shard], KeyedPuts{&col.puts[shard], key})
	}
	c.shards |= col.put
}

func (c *Commands) addAll() {
	c.all++
	// Each shard has items to erase, also a shard that no command names.
	c.shards = AllShards(len(c.erases))
}

func (c *Commands) addErases(shard int, erases Erases) {
	c.erases[shard] = append(c.erases[shard], erases)
	c.shards.Add(shard)
}
