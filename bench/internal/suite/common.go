package suite

// Tables of the same size can differ by half in speed, if one gets larger
// pages; so all numbers of workers use one.
type common[V any] struct {
	make  func() V
	value V
	users int
}

func (c *common[V]) open() V {
	if c.users == 0 {
		c.value = c.make()
	}
	c.users++
	return c.value
}

func (c *common[V]) close() {
	if c.users--; c.users == 0 {
		var none V
		c.value = none
	}
}
