package batch

import "handloom/internal/items"

const InboxPass = inboxPass

func (q Queue) Watch(ordinal int) *tableBuffer {
	for len(q.buf.tables) <= ordinal {
		q.buf.tables = append(q.buf.tables, nil)
		q.buf.spare = append(q.buf.spare, nil)
		q.buf.usedTables = append(q.buf.usedTables, false)
	}
	c := &tableBuffer{recorder: &Recorder{typ: items.For[byte]()}}
	c.current, c.segments, c.used = items.From([]byte{1}), []segment{{values: items.From(make([]byte, 0, 1))}}, 1
	q.buf.touched, q.buf.holds = append(q.buf.touched, touched{ordinal, c}), true
	return c
}

// Computing the load writes back the newest segment.
func (c *tableBuffer) AddedUp() bool {
	added := c.segments[0].values.Len() > 0
	c.segments[0].values = c.segments[0].values.Resize(0)
	return added
}

func (r *Recorder) BeginSegments(first uint64) { r.segments.given.Store(first) }

func (r *Recorder) SkipSegments(n uint64) { r.segments.given.Add(n) }

func (c *Commands) Places() int { return len(c.createIndex.at) }

// Load returns the load that is not joined.
func (s *Sequence) Load() (sum Load) {
	for _, p := range s.passes {
		sum.add(p.load())
	}
	return sum
}

func (c *Commands) Keys() (keys []Key) {
	for _, table := range c.tables {
		keys = append(keys, table.key)
	}
	return keys
}
