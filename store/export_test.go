package store

// SetPerturb has f called once per parallel step of s with the number of its
// tasks; the function it returns says which task runs in place of which.
func (s *Store) SetPerturb(f func(n int) func(task int) int) { s.perturb = f }

// Order returns the numbers of the systems in serial order.
func (c *Schedule) Order() []int { return c.plan.Order() }
