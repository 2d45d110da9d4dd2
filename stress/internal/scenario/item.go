package scenario

import "handloom/store"

// item is what tables hold. P fills it up to the size that the scenario says; it
// comes first, because an empty field at the end would be padded.
type item[P any] struct {
	Rest P
	head
}

// head is the part that a tick reads and writes. It has no padding, so that its
// digest is one of memory.
type head struct {
	Key   uint64   // random, and the item's own as far as that goes
	State uint64   // what the steps have come to
	Link  store.ID // another item, or one that is gone
	Born  uint32   // the tick that created it
	Puts  uint32
}

// mix returns the bits of x so shuffled that each depends on all (SplitMix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// steps returns x after n steps of arithmetic, each of which waits for the one
// before: a step is a multiplication and a shift, between one and two
// nanoseconds.
func steps(x uint64, n int) uint64 {
	for range n {
		x *= 0x9e3779b97f4a7c15
		x ^= x >> 29
	}
	return x
}

// odds are the chances of an item to be erased or put in a tick, as shares of
// 1<<32: an item whose dice are below erase is erased, one below put is put.
type odds struct{ erase, put uint64 }

// choices are the odds of a table's items in one tick.
type choices struct {
	seed      uint64 // of the tick and the table
	first     uint16 // the typeId whose shard has odds of its own
	hot, cold odds
}

// newChoices returns the odds that pick as many items of a table of n as t says.
func newChoices(t Table, first uint16, n int, seed uint64) choices {
	c := choices{seed: seed, first: first}
	of := func(part, items float64) odds {
		erase := share(part*float64(t.Erases), items)
		return odds{erase, erase + share(part*float64(t.Puts), items)}
	}
	if t.Skew == 0 || t.Shards == 1 {
		c.cold = of(1, float64(n))
		c.hot = c.cold
		return c
	}
	each := float64(n) / float64(t.Shards)
	c.hot = of(t.Skew, each)
	c.cold = of(1-t.Skew, float64(n)-each)
	return c
}

// odds returns those of the items of a shard.
func (c *choices) odds(typeID uint16) odds {
	if typeID == c.first {
		return c.hot
	}
	return c.cold
}

// dice returns a number below 1<<32 that is the item's own in this tick.
func (c *choices) dice(key uint64) uint64 { return mix(key^c.seed) >> 32 }

// share returns n of m as a share of 1<<32.
func share(n, m float64) uint64 {
	if m < 1 {
		return 0
	}
	return uint64(min(n/m, 1) * (1 << 32))
}
