package suite

import "testing"

// Every container must do what its loops say, or its times mean nothing: the sums
// of what was found say so.
func TestContainersDoWhatIsMeasured(t *testing.T) {
	const n = 500
	s := set[item64]{n: n, seed: 1}
	sum := uint64(n * (n - 1) / 2)
	for _, impl := range containers[item64]() {
		c := impl.make(s.load())
		count := func(what string, f func(), want uint64) {
			t.Helper()
			before := sink
			if f(); sink-before != want {
				t.Errorf("%s, %s: the sum is %d; want %d", impl.name, what, sink-before, want)
			}
		}
		values := func() { // handles are part of the sums of some
			if _, ok := c.(*stable[item64]); !ok {
				count("iterate", c.iterate, sum)
			}
		}
		for _, reserve := range []bool{false, true} {
			c.fresh(reserve)
			c.insert()
			values()
			count("look up", c.lookUp, sum)
		}
		fill(c)
		values()
		count("look up shuffled", c.lookUpShuffled, sum)
		c.churn()
		values()
		count("look up after churn", c.lookUp, sum)
		count("look up of names before churn", c.lookUpShuffled, map[bool]uint64{true: sum, false: 0}[impl.name == "pointers"])
		fill(c)
		c.erase()
		count("look up after erase", c.lookUp, 0)
		fill(c)
		c.clear()
		if impl.name != "pointers" {
			count("look up after clear", c.lookUp, 0)
		}
		c.insert()
		values()
		count("look up after refill", c.lookUp, sum)
		if c, ok := c.(*byHand[item64]); ok && len(c.m.sparse) != n {
			t.Errorf("%s has %d slots after a refill; want %d, used again", impl.name, len(c.m.sparse), n)
		}
	}
}
