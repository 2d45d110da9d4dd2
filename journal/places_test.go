package journal

import (
	"context"
	"testing"
)

// A Read begins less than two stretches of records before its first one, in any segment, and
// gives the same records.
func TestOpenRead_BeginsNearTheRecord(t *testing.T) {
	const records = 1000
	for _, segment := range []int{minSegment, 1 << 12, 1 << 20} {
		d := newCrashDisk()
		o := small(d)
		o.SegmentBytes = segment
		j := mustOpen(t, o)
		mustAppend(t, j, 1, records)
		r := mustOpenRead(t, d)
		for after := uint64(0); after < records; after += 7 {
			c := reader{j: r, after: after}
			noError(t, c.enter())
			if begin := c.c.at.seq; begin > after || after-begin >= 2*placeRecords {
				t.Fatalf("segments of %d bytes: a Read after record %d begins after %d", segment, after, begin)
			}
			c.close()
			wantAfter(t, r, after, int(records-after))
		}
		// A trimmed segment has no places.
		noError(t, save(j, 900, "state"))
		noError(t, save(j, 950, "state"))
		noError(t, j.Trim(context.Background(), 900))
		wantAfter(t, r, 900, records-900)
		for _, p := range r.places {
			if p.first < r.segments[0] {
				t.Fatalf("segments of %d bytes: a place in the segment of record %d, want from %d on", segment, p.first, r.segments[0])
			}
		}
		mustClose(t, r)
		mustClose(t, j)
	}
}
