package suite

// pointers is a slice of pointers to separately allocated items. Indices are
// reused without a generation, so stale names are not detected.
type pointers[T item] struct {
	load[T]
	names[uint32]
	all  []*T
	free []uint32
}

func (c *pointers[T]) fresh(reserve bool) {
	c.all, c.free = nil, nil
	if reserve {
		c.all = make([]*T, 0, len(c.values))
	}
	c.reset(len(c.values))
}

func (c *pointers[T]) insert() {
	for i, v := range c.values {
		c.inOrder[i] = c.add(v)
	}
}

func (c *pointers[T]) add(v T) uint32 {
	p := new(T)
	*p = v
	if n := len(c.free); n > 0 {
		i := c.free[n-1]
		c.free = c.free[:n-1]
		c.all[i] = p
		return i
	}
	c.all = append(c.all, p)
	return uint32(len(c.all) - 1)
}

func (c *pointers[T]) iterate() {
	var sum uint64
	for _, p := range c.all {
		if p != nil {
			sum += *first(p)
		}
	}
	sink += sum
}

func (c *pointers[T]) lookUp()         { getPointers(c.all, c.inOrder) }
func (c *pointers[T]) lookUpShuffled() { getPointers(c.all, c.shuffled) }

func getPointers[T item](all []*T, indices []uint32) {
	var sum uint64
	for _, i := range indices {
		if p := all[i]; p != nil {
			sum += *first(p)
		}
	}
	sink += sum
}

func (c *pointers[T]) erase() {
	for _, i := range c.shuffled {
		c.remove(i)
	}
}

func (c *pointers[T]) remove(i uint32) {
	c.all[i] = nil
	c.free = append(c.free, i)
}

func (c *pointers[T]) churn() {
	for _, i := range c.order {
		c.remove(c.inOrder[i])
		c.inOrder[i] = c.add(c.values[i])
	}
}

func (c *pointers[T]) clear() {
	clear(c.all)
	c.all, c.free = c.all[:0], c.free[:0]
}
