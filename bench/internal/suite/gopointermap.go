package suite

type goPointerMap[T item] struct{ keyed[T, *T] }

func (c *goPointerMap[T]) insert() {
	for i, v := range c.values {
		c.inOrder[i] = c.add(v)
	}
}

func (c *goPointerMap[T]) add(v T) uint64 {
	c.keys++
	p := new(T)
	*p = v
	c.m[c.keys] = p
	return c.keys
}

func (c *goPointerMap[T]) iterate() {
	var sum uint64
	for _, v := range c.m {
		sum += *first(v)
	}
	sink += sum
}

func (c *goPointerMap[T]) lookUp()         { getPointerMap(c.m, c.inOrder) }
func (c *goPointerMap[T]) lookUpShuffled() { getPointerMap(c.m, c.shuffled) }

func getPointerMap[T item](m map[uint64]*T, keys []uint64) {
	var sum uint64
	for _, k := range keys {
		if v, ok := m[k]; ok {
			sum += *first(v)
		}
	}
	sink += sum
}

func (c *goPointerMap[T]) churn() {
	for _, i := range c.order {
		delete(c.m, c.inOrder[i])
		c.inOrder[i] = c.add(c.values[i])
	}
}
