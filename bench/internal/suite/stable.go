package suite

import (
	"handloom/handle"
	"handloom/shard/slotmap"
)

type stable[T item] struct {
	load[T]
	names[handle.Of[T]]
	m *slotmap.Map[T]
}

func (c *stable[T]) fresh(reserve bool) {
	o := handle.Options{}
	if reserve {
		o.Reserve = len(c.values)
	}
	c.m = must(slotmap.New[T](o))
	c.reset(len(c.values))
}

func (c *stable[T]) insert() {
	for i, v := range c.values {
		h, _ := c.m.Insert(v)
		c.inOrder[i] = h
	}
}

func (c *stable[T]) insertItems() {
	c.inOrder = must(c.m.InsertItems(c.values, c.inOrder[:0]))
}

func (c *stable[T]) iterate() {
	var sum uint64
	for h, v := range c.m.All() {
		sum += *first(v) + uint64(h.ID)
	}
	sink += sum
}

func (c *stable[T]) lookUp()         { getStable(c.m, c.inOrder) }
func (c *stable[T]) lookUpShuffled() { getStable(c.m, c.shuffled) }

func getStable[T item](m *slotmap.Map[T], hs []handle.Of[T]) {
	var sum uint64
	for _, h := range hs {
		if v, ok := m.Get(h); ok {
			sum += *first(v)
		}
	}
	sink += sum
}

func (c *stable[T]) len() int { return c.m.Len() }

func (c *stable[T]) erase() {
	for _, h := range c.shuffled {
		c.m.Erase(h)
	}
}

func (c *stable[T]) churn() {
	for _, i := range c.order {
		c.m.Erase(c.inOrder[i])
		c.inOrder[i], _ = c.m.Insert(c.values[i])
	}
}

func (c *stable[T]) clear() { c.m.Clear() }
