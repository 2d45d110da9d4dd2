package goalloc

const (
	// tickLength is how much trace time is one tick, in nanoseconds.
	tickLength = 1_000_000

	// maxTicks keeps one absurd time from becoming millions of empty ticks. It
	// is more than an hour, whose text would be terabytes.
	maxTicks = 1 << 22
)

// clock turns times into ticks. Ticks only grow.
type clock struct {
	begun  bool
	start  uint64 // first time of the text
	latest uint64 // highest time so far
	ticks  uint64 // whole ticks from start to latest
}

// begin makes time the beginning of the first tick, unless there was one.
func (c *clock) begin(time uint64) {
	if !c.begun {
		c.begun, c.start, c.latest = true, time, time
	}
}

// advance returns how many ticks end before time, and whether time lies behind
// one seen before, which moves nothing.
func (c *clock) advance(time uint64) (passed uint64, back bool) {
	c.begin(time)
	if time < c.latest {
		return 0, true
	}
	c.latest = time
	before := c.ticks
	c.ticks = (time - c.start) / tickLength
	return c.ticks - before, false
}
