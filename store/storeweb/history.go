package storeweb

import (
	"sync"
	"time"

	"handloom/batch"
	"handloom/store"
)

// recent is the difference between two requests.
type recent struct {
	Seconds float64       `json:"seconds"`
	Flushes uint64        `json:"flushes"`
	Flushed *store.Report `json:"flushed"` // tables in the order of registration
}

func (r *recent) Rate(n int) string { return rate(n, r.Seconds) }

// history has data of earlier requests.
type history struct {
	mutex  sync.Mutex
	marks  [2]mark // at least that far apart; the newer is the last
	points []point // between marks, oldest first
}

const (
	apart     = time.Second
	maxPoints = 300
)

type mark struct {
	at      time.Time
	flushed *store.Report // nil: no mark
}

// A point is one interval of the charts, per second.
type point struct {
	at                   time.Time
	live                 int
	created, erased, put float64
	flush                float64 // mean duration in nanoseconds; NaN without a flush
}

// add records the data of a request. It returns the difference to a request at least a second
// older, or nil, and points that will not change.
func (h *history) add(at time.Time, stats []store.TableStats, flushed *store.Report) (*recent, []point) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	last := &h.marks[1]
	base := *last
	if base.flushed != nil && at.Sub(base.at) < apart {
		base = h.marks[0]
	}
	var since *recent
	if base.flushed != nil {
		since = between(base, mark{at, flushed})
	}
	if last.flushed == nil || at.Sub(last.at) >= apart {
		h.marks[0], h.marks[1] = *last, mark{at, flushed}
		if since != nil {
			h.addPoint(at, stats, since)
		}
	}
	return since, h.points
}

func between(a, b mark) *recent {
	done := b.flushed.Clone()
	done.Total = minus(done.Total, a.flushed.Total)
	for i := range a.flushed.Tables { // tables registered since have no entry
		done.Tables[i].Counts = minus(done.Tables[i].Counts, a.flushed.Tables[i].Counts)
	}
	for i := range a.flushed.Columns {
		done.Columns[i].Counts = minus(done.Columns[i].Counts, a.flushed.Columns[i].Counts)
	}
	done.Plan -= a.flushed.Plan
	done.Apply -= a.flushed.Apply
	return &recent{b.at.Sub(a.at).Seconds(), b.flushed.Epoch - a.flushed.Epoch, done}
}

func minus(a, b batch.Counts) batch.Counts {
	return batch.Counts{
		Created: a.Created - b.Created, Erased: a.Erased - b.Erased, Unset: a.Unset - b.Unset, Put: a.Put - b.Put, Superseded: a.Superseded - b.Superseded,
		Dropped: a.Dropped - b.Dropped, Redundant: a.Redundant - b.Redundant, Stale: a.Stale - b.Stale,
		CancelledOut: a.CancelledOut - b.CancelledOut, Dangling: a.Dangling - b.Dangling, Depleted: a.Depleted - b.Depleted,
	}
}

// addPoint copies the points if there is no room, because requests may be drawing them.
func (h *history) addPoint(at time.Time, stats []store.TableStats, r *recent) {
	p := point{at: at}
	for _, t := range stats {
		p.live += t.Live
	}
	done := r.Flushed.Total
	p.created, p.erased, p.put = float64(done.Created)/r.Seconds, float64(done.Erased)/r.Seconds, float64(done.Put)/r.Seconds
	p.flush = float64(r.Flushed.Plan+r.Flushed.Apply) / float64(r.Flushes)
	if len(h.points) == cap(h.points) {
		kept := h.points[max(0, len(h.points)-maxPoints+1):]
		h.points = append(make([]point, 0, 2*maxPoints), kept...)
	}
	h.points = append(h.points, p)
}
