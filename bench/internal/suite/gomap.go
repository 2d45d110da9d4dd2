package suite

type goMap[T item] struct {
	load[T]
	names[uint64]
	m    map[uint64]T
	keys uint64 // last key
}

func (c *goMap[T]) fresh(reserve bool) {
	c.m = make(map[uint64]T)
	if reserve {
		c.m = make(map[uint64]T, len(c.values))
	}
	c.reset(len(c.values))
}

func (c *goMap[T]) erase() {
	for _, k := range c.shuffled {
		delete(c.m, k)
	}
}

func (c *goMap[T]) clear() { clear(c.m) }

func (c *goMap[T]) insert() {
	for i, v := range c.values {
		c.inOrder[i] = c.add(v)
	}
}

func (c *goMap[T]) add(v T) uint64 {
	c.keys++
	c.m[c.keys] = v
	return c.keys
}

func (c *goMap[T]) iterate() {
	var sum uint64
	for _, v := range c.m {
		sum += *first(&v)
	}
	sink += sum
}

func (c *goMap[T]) lookUp()         { getMap(c.m, c.inOrder) }
func (c *goMap[T]) lookUpShuffled() { getMap(c.m, c.shuffled) }

func getMap[T item](m map[uint64]T, keys []uint64) {
	var sum uint64
	for _, k := range keys {
		if v, ok := m[k]; ok {
			sum += *first(&v)
		}
	}
	sink += sum
}

func (c *goMap[T]) churn() {
	for _, i := range c.order {
		delete(c.m, c.inOrder[i])
		c.inOrder[i] = c.add(c.values[i])
	}
}
