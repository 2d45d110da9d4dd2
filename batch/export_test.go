package batch

// Witness is a column of no table that counts how often its queue adds up what
// it holds.
type Witness struct{ Visits int }

func (w *Witness) reset() {}

func (w *Witness) load() Load {
	w.Visits++
	return Load{}
}

// Watch has the queue hold w in the place of a table that records nothing.
func (q Queue) Watch(w *Witness, ordinal int) {
	for len(q.lane.columns) <= ordinal {
		q.lane.columns = append(q.lane.columns, nil)
		q.lane.spare = append(q.lane.spare, nil)
		q.lane.usedTables = append(q.lane.usedTables, false)
	}
	q.lane.touched = append(q.lane.touched, touched{ordinal, w})
}

// SkipSegments numbers the next segments of the table as if it had used n more.
func (r *Recorder[T]) SkipSegments(n uint64) { r.segments.given.Add(n) }

// Places returns how much room c has for the numbers of segments.
func (c *Commands[T]) Places() int { return len(c.places.at) }
