package suite

import (
	"handloom/handle"
	"handloom/shard/handlemap"
)

type packed[T item] struct {
	load[T]
	names[handle.Of[T]]
	m *handlemap.Map[T]
}

func (c *packed[T]) fresh(reserve bool) {
	o := handle.Options{}
	if reserve {
		o.Reserve = len(c.values)
	}
	c.m = must(handlemap.New[T](o))
	c.reset(len(c.values))
}

func (c *packed[T]) insert() {
	for i, v := range c.values {
		h, _ := c.m.Insert(v)
		c.inOrder[i] = h
	}
}

func (c *packed[T]) insertItems() {
	c.inOrder = must(c.m.InsertItems(c.values, c.inOrder[:0]))
}

func (c *packed[T]) iterate() { sumItems(c.m.Items()) }

func (c *packed[T]) iterateAll() {
	var sum uint64
	for h, v := range c.m.All() {
		sum += *first(v) + uint64(h.ID)
	}
	sink += sum
}

func (c *packed[T]) lookUp()         { getPacked(c.m, c.inOrder) }
func (c *packed[T]) lookUpShuffled() { getPacked(c.m, c.shuffled) }

func getPacked[T item](m *handlemap.Map[T], hs []handle.Of[T]) {
	var sum uint64
	for _, h := range hs {
		if v, ok := m.Get(h); ok {
			sum += *first(v)
		}
	}
	sink += sum
}

func (c *packed[T]) len() int { return c.m.Len() }

func (c *packed[T]) erase() {
	for _, h := range c.shuffled {
		c.m.Erase(h)
	}
}

func (c *packed[T]) churn() {
	for _, i := range c.order {
		c.m.Erase(c.inOrder[i])
		c.inOrder[i], _ = c.m.Insert(c.values[i])
	}
}

func (c *packed[T]) clear() { c.m.Clear() }

func sumItems[T item](items []T) {
	var sum uint64
	for i := range items {
		sum += *first(&items[i])
	}
	sink += sum
}
