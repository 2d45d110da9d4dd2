package suite

// common is what the cases of one comparison have in common, from the first that
// opens it to the last that closes it. Two tables of the same size can differ by
// half in speed, because one got larger pages than the other; so numbers of
// workers are compared on one.
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
