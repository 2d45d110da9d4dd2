package trace

import "fmt"

// Checker holds events to the rules of a lifetime (L1, L2, L3). It keeps the
// keys that are alive, so its memory grows with their number: about 40 bytes
// each.
type Checker struct {
	name string
	live [MaxTable + 1]map[uint64]int // by table: key to the line that created it
	err  error
}

// NewChecker returns a Checker to which nothing is alive. The name is what
// errors call the file.
func NewChecker(name string) *Checker { return &Checker{name: name} }

// Check returns nil if e may follow the events checked before, and an [*Error]
// with e's line if not. After an error e and all events behind it change
// nothing, and every later call returns the same error. Check takes O(1) time.
func (c *Checker) Check(e Event) error {
	if c.err == nil {
		if reason := c.apply(e); reason != "" {
			c.err = &Error{File: c.name, Line: e.Line, Reason: reason}
		}
	}
	return c.err
}

// CheckBatch checks events in their order and returns the first error. Give it
// a whole batch before any of it is recorded, so that a fault in the middle
// leaves nothing half done.
func (c *Checker) CheckBatch(events []Event) error {
	for _, e := range events {
		if err := c.Check(e); err != nil {
			return err
		}
	}
	return nil
}

// apply notes e, or says which rule it breaks and notes nothing.
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
