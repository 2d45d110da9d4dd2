package scenario

import (
	"fmt"
	"slices"

	"handloom/store"
)

// sizes are those that an item may have.
var sizes = []int{32, 64, 128, 256, 1024}

// Limits of what flags may change, too.
const (
	MaxHz    = 10_000
	MaxTicks = 1_000_000_000
)

const (
	maxTables  = 64
	maxPasses  = 64
	maxItems   = 100_000_000
	maxPerTick = 10_000_000
	maxInbox   = 100_000
	maxSteps   = 100_000
	maxReaders = 1000
)

// checker collects the first fault.
type checker struct{ path, reason string }

func (c *checker) fault(path, format string, args ...any) {
	if c.reason == "" {
		c.path, c.reason = path, fmt.Sprintf(format, args...)
	}
}

func (c *checker) between(path string, v, lo, hi int) {
	if v < lo || v > hi {
		c.fault(path, "%d; want %d to %d", v, lo, hi)
	}
}

// check returns the path and the reason of the first fault of a value, or "".
// The path may be one that the file does not have, a field that is missing; the
// path of what should have it is returned then.
func (s *Scenario) check() (path, reason string) {
	var c checker
	c.between("hz", s.Hz, 0, MaxHz)
	c.between("ticks", s.Ticks, 1, MaxTicks)
	c.between("readers", s.Readers, 0, maxReaders)
	if n := len(s.Tables); n < 1 || n > maxTables {
		c.fault("tables", "%d of them; want 1 to %d", n, maxTables)
	}
	if n := len(s.Passes); n > maxPasses {
		c.fault("passes", "%d of them; want at most %d", n, maxPasses)
	}
	for i := range s.Tables {
		s.checkTable(&c, i)
	}
	for i, p := range s.Passes {
		at := fmt.Sprintf("passes[%d]", i)
		if s.table(p.Table) < 0 {
			c.fault(at+".table", "%q is no table", p.Table)
		}
		c.between(at+".steps", p.Steps, 0, maxSteps)
	}
	return c.path, c.reason
}

func (s *Scenario) checkTable(c *checker, i int) {
	t := &s.Tables[i]
	at := fmt.Sprintf("tables[%d].", i)
	if t.Name == "" || len(t.Name) > 40 {
		c.fault(at+"name", "%q; want 1 to 40 bytes", t.Name)
	}
	if s.table(t.Name) != i {
		c.fault(at+"name", "%q is the name of another table", t.Name)
	}
	if t.Shards == 0 {
		t.Shards = 1
	}
	if !slices.Contains(sizes, t.Bytes) {
		c.fault(at+"bytes", "%d; want one of %v", t.Bytes, sizes)
	}
	c.between(at+"shards", t.Shards, 1, store.MaxShards)
	c.between(at+"items", t.Items, 0, maxItems)
	c.between(at+"max_items", t.MaxItems, 0, maxItems)
	c.between(at+"creates", t.Creates, 0, maxPerTick)
	c.between(at+"links", t.Links, 0, t.Creates)
	c.between(at+"erases", t.Erases, 0, maxPerTick)
	c.between(at+"puts", t.Puts, 0, maxPerTick)
	c.between(at+"inbox", t.Inbox, 0, maxInbox)
	if !(t.Skew >= 0 && t.Skew <= 1) {
		c.fault(at+"skew", "%v; want 0 to 1", t.Skew)
	}
	if t.MaxItems > 0 && t.Items > t.MaxItems {
		c.fault(at+"items", "%d exceed max_items, %d", t.Items, t.MaxItems)
	}
}

// table returns the index of the first table of that name, or -1.
func (s *Scenario) table(name string) int {
	return slices.IndexFunc(s.Tables, func(t Table) bool { return t.Name == name })
}
