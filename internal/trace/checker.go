package trace

import "fmt"

// Checker checks the lifetimes of events (L1, L2, L3). It keeps the live keys,
// about 40 bytes each.
type Checker struct {
	name string
	live [MaxTable + 1]map[uint64]int // by table: key to the line of its create
	err  error
}

// NewChecker returns a Checker without live keys. Errors call the file name.
func NewChecker(name string) *Checker { return &Checker{name: name} }

// Check returns nil if e is valid after the events checked before, otherwise an
// [*Error] with its line. After an error, all calls return the same error.
// Check takes O(1) time.
func (c *Checker) Check(e Event) error {
	if c.err == nil {
		if reason := c.apply(e); reason != "" {
			c.err = &Error{File: c.name, Line: e.Line, Reason: reason}
		}
	}
	return c.err
}

// CheckBatch checks events in order and returns the first error. Check a whole
// batch before recording any of it.
func (c *Checker) CheckBatch(events []Event) error {
	for _, e := range events {
		if err := c.Check(e); err != nil {
			return err
		}
	}
	return nil
}

// apply records e, or returns the rule that e breaks.
func (c *Checker) apply(e Event) string {
	if e.Table > MaxTable {
		return fmt.Sprintf("table %d is out of range 0..%d", e.Table, MaxTable)
	}
	line, alive := c.live[e.Table][e.Key]
	switch e.Kind {
	case Tick:
	case Create:
		if alive {
			return fmt.Sprintf("key %d of table %d is created twice; it is alive since line %d", e.Key, e.Table, line)
		}
		c.create(e)
	case Update, Erase:
		if !alive {
			return fmt.Sprintf("%s of key %d in table %d, which is not alive", e.Kind, e.Key, e.Table)
		}
		if e.Kind == Erase {
			delete(c.live[e.Table], e.Key)
		}
	default:
		return fmt.Sprintf("event of unknown kind %q", byte(e.Kind))
	}
	return ""
}

func (c *Checker) create(e Event) {
	if c.live[e.Table] == nil {
		c.live[e.Table] = make(map[uint64]int)
	}
	c.live[e.Table][e.Key] = e.Line
}
