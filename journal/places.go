package journal

import "maps"

// A place is the start of a unit. A journal of OpenRead notes one per placeRecords records that
// it reads, so that a later Read does not begin at the start of a segment.
type place struct {
	first  uint64 // of the segment
	offset int64
	at     link // before the unit
}

const placeRecords = 64

// note notes the place of the cursor, unless its stretch of records has one. j.mu is held.
func (j *Journal) note(c *cursor) {
	if _, noted := j.places[c.at.seq/placeRecords]; !noted {
		j.places[c.at.seq/placeRecords] = place{c.first(), c.offset, c.at}
	}
}

// place returns the last known place of a segment at or before the record after position after.
func (j *Journal) place(first, after uint64) (p place, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := after/placeRecords + 1; i > first/placeRecords && !ok; i-- {
		p, ok = j.places[i-1]
		ok = ok && p.first == first && p.at.seq <= after
	}
	return p, ok
}

// dropPlaces drops the places of trimmed segments. j.mu is held, or j is new.
func (j *Journal) dropPlaces() {
	if len(j.segments) == 0 || j.segments[0] == j.placed {
		return
	}
	j.placed = j.segments[0]
	maps.DeleteFunc(j.places, func(_ uint64, p place) bool { return p.first < j.placed })
}
