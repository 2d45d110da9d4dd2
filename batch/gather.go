package batch

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
			b.pending(b.tables[t.ordinal]).addTable(t.table, key)
		}
		for _, s := range buf.attached {
			b.pending(s.log.table).addSets(s, key)
		}
		for lists := buf.lists; len(lists) > 0; {
			r := b.byList[lists[0]]
			lists = b.pending(r).addErases(buf, r, lists)
		}
		if erases := &buf.byRow; erases.list > 0 {
			r := b.byList[erases.list]
			c, shard := b.pending(r), erases.list-r.list
			c.erasing = append(c.erasing, erasing{buf, 1 << shard, true})
			c.shards.Add(shard)
			c.counts[shard].erases += len(erases.rows)
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
	if len(c.counts) < shards {
		c.counts = make([]shardCounts, shards)
	}
}

// addTable adds the creates and puts of a queue. Creates name no shard yet: the flush
// deals the survivors later.
func (c *Commands) addTable(table *tableBuffer, key Key) {
	table.key = key
	table.seal()
	c.tables = append(c.tables, table)
	for shard := range table.put.All {
		c.counts[shard].puts += len(table.puts[shard].IDs)
	}
	c.shards |= table.put
}

func (c *Commands) addAll() {
	c.all++
	// Each shard has items to erase, also a shard that no command names.
	c.shards = AllShards(len(c.counts))
}

// addErases notes the queue's first lists, as far as they are of the table, and returns the others.
// Each shard reads its lists itself, because a table has queues times shards of them.
func (c *Commands) addErases(buf *buffer, r *Recorder, lists []int) []int {
	shards, counts, n := Shards(0), c.counts, 0
	for _, list := range lists {
		shard := list - r.list // lists of a table are numbered by shard
		if uint(shard) >= uint(len(counts)) {
			break
		}
		counts[shard].erases += len(buf.erases[list].ids)
		shards.Add(shard)
		n++
	}
	c.erasing = append(c.erasing, erasing{buf, shards, false})
	c.shards |= shards
	return lists[n:]
}
