package batch

import "handloom/internal/items"

// InboxPass is the pass of the inbox in a [Sample].
const InboxPass = inboxPass

// Watch has the queue hold a column in the place of a table, and returns it: when
// the queue adds up what it holds, the column notices.
func (q Queue) Watch(ordinal int) *tableBuffer {
	for len(q.buf.columns) <= ordinal {
		q.buf.columns = append(q.buf.columns, nil)
		q.buf.spare = append(q.buf.spare, nil)
		q.buf.usedTables = append(q.buf.usedTables, false)
	}
	c := &tableBuffer{recorder: &Recorder{typ: items.For[byte]()}}
	c.current, c.segments, c.used = items.From([]byte{1}), []segment{{values: items.From(make([]byte, 0, 1))}}, 1
	q.buf.touched, q.buf.holds = append(q.buf.touched, touched{ordinal, c}), true
	return c
}

// AddedUp reports whether the queue added up what the column holds, since the last
// time: the newest segment is written back then.
func (c *tableBuffer) AddedUp() bool {
	added := c.segments[0].values.Len() > 0
	c.segments[0].values = c.segments[0].values.Resize(0)
	return added
}

// BeginSegments numbers the segments of the table from first+1 on.
func (r *Recorder) BeginSegments(first uint64) { r.segments.given.Store(first) }

// SkipSegments numbers the next segments of the table as if it had used n more.
func (r *Recorder) SkipSegments(n uint64) { r.segments.given.Add(n) }

// Places returns how much room c has for the numbers of segments.
func (c *Commands) Places() int { return len(c.createIndex.at) }

// Load returns what the sequence holds that is not joined.
func (s *Sequence) Load() (sum Load) {
	for _, p := range s.passes {
		sum.add(p.load())
	}
	return sum
}

// Keys returns the keys of the queues, in order.
func (c *Commands) Keys() (keys []Key) {
	for _, column := range c.columns {
		keys = append(keys, column.key)
	}
	return keys
}
