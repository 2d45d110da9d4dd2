package batch

import (
	"slices"

	"handloom/handle"
	"handloom/internal/highwater"
	"handloom/internal/items"
)

// Puts are one queue's commands by handle for one shard, in sequence: Values[i] is for IDs[i].
type Puts struct {
	IDs    []handle.ID // capacity is the share
	Values items.Slice
	whole  []handle.ID // array of IDs, as long as Values
	unset  bitmap      // Unsets, whose values are arbitrary
	peak   highwater.Mark
}

// IsUnset reports whether command i is an Unset.
func (p *Puts) IsUnset(i int) bool { return p.unset.has(i) }

func (p *Puts) reset(t *items.Type) {
	p.Values = emptied(t, p.Values, &p.peak)
	clear(p.unset)
	// All arrays have one length, so all are released.
	if p.Values.Cap() == 0 {
		p.whole, p.unset = nil, nil
	}
	// Without capacity: the first command of the next use takes a share.
	p.IDs = p.whole[:0:0]
}

// grow makes room for one more command and for the next share.
func (p *Puts) grow(buf *buffer, t *items.Type) bool {
	size := idBytes + t.Size
	if !buf.take(Load{1, int64(size)}) {
		return false
	}
	n := len(p.IDs)
	// IDs carries the share. Values is always as long as the whole array, so that a command
	// checks one capacity.
	if n == cap(p.whole) {
		p.whole = grow(p.IDs, 1)
		p.Values = t.Grown(p.Values, cap(p.whole)).Resize(n)
	}
	p.IDs = p.whole[: n : n+1+buf.share(cap(p.whole)-n-1, size)]
	return true
}

// A putLog has the Puts of one queue for the items of a table, or for an attachment.
type putLog struct {
	puts   []Puts // by shard; without commands a shard has no capacity
	put    Shards // with commands
	recent Shards // with commands in this period
	age    int    // uses in this period
}

// putTo returns the Puts of a shard with room for one more, or nil if the queue has failed. The
// first command for a shard finds no capacity, so every caller notes the shard here.
func (l *putLog) putTo(buf *buffer, t *items.Type, shard int) *Puts {
	p := &l.puts[shard]
	if len(p.IDs) == cap(p.IDs) && !p.grow(buf, t) {
		return nil
	}
	l.put.Add(shard)
	return p
}

// commands takes O(shards with commands) time.
func (l *putLog) commands() (n int) {
	for shard := range l.put.All {
		n += len(l.puts[shard].IDs)
	}
	return n
}

// clip removes unused capacity.
func (l *putLog) clip() {
	for shard := range l.put.All {
		l.puts[shard].IDs = slices.Clip(l.puts[shard].IDs)
	}
}

// reset drops all commands. It keeps arrays as far as recent uses needed them, and none of shards
// without commands in the last period.
func (l *putLog) reset(t *items.Type) {
	for shard := range l.put.All {
		l.puts[shard].reset(t)
	}
	l.recent |= l.put
	l.put = 0
	if l.age++; l.age < highwater.Period {
		return
	}
	for shard := range (AllShards(len(l.puts)) &^ l.recent).All {
		l.puts[shard] = Puts{}
	}
	l.recent, l.age = 0, 0
}
