package suite

type byHand[T item] struct {
	load[T]
	names[uint64]
	m *baseline[T]
}

func (c *byHand[T]) fresh(reserve bool) {
	c.m = new(baseline[T])
	if reserve {
		c.m = newBaseline[T](len(c.values))
	}
	c.reset(len(c.values))
}

func (c *byHand[T]) insert() {
	for i, v := range c.values {
		c.inOrder[i] = c.m.insert(v)
	}
}

func (c *byHand[T]) insertItems() { c.inOrder = c.m.insertItems(c.values, c.inOrder[:0]) }

func (c *byHand[T]) iterate() { sumItems(c.m.items) }

func (c *byHand[T]) lookUp()         { getBaseline(c.m, c.inOrder) }
func (c *byHand[T]) lookUpShuffled() { getBaseline(c.m, c.shuffled) }

func getBaseline[T item](m *baseline[T], hs []uint64) {
	var sum uint64
	for _, h := range hs {
		if v, ok := m.get(h); ok {
			sum += *first(v)
		}
	}
	sink += sum
}

func (c *byHand[T]) len() int { return len(c.m.items) }

func (c *byHand[T]) erase() {
	for _, h := range c.shuffled {
		c.m.erase(h)
	}
}

func (c *byHand[T]) churn() {
	for _, i := range c.order {
		c.m.erase(c.inOrder[i])
		c.inOrder[i] = c.m.insert(c.values[i])
	}
}

func (c *byHand[T]) clear() { c.m.clear() }
