package world

import (
	"slices"
	"time"
)

// A progress counts records and ticks since Open. A difference of two decides whether a
// snapshot is due.
type progress struct {
	records, bytes uint64 // of the log
	active, idle   uint64 // ticks; an active one flushes commands, of its input or its own
	took           time.Duration
}

// idleTicks count as one active tick. They bound the replay of a world that moves without
// commands.
const idleTicks = 100

// maxReplay is the time of ticks after which a snapshot is due, by this World's clock: only when a
// World saves may depend on it.
const maxReplay = time.Minute

func (p progress) since(from progress) progress {
	return progress{p.records - from.records, p.bytes - from.bytes, p.active - from.active, p.idle - from.idle, p.took - from.took}
}

func (p progress) ticks() uint64 { return p.active + p.idle }

// part returns p as a part of the progress after which a snapshot is due: 1 is due.
func (p progress) part(bytes, ticks int) float64 {
	work := float64(p.active) + float64(p.idle)/idleTicks
	return max(float64(p.bytes)/float64(bytes), work/float64(ticks), float64(p.took)/float64(maxReplay))
}

func (s *saver) countRecord(size int) {
	s.total.records++
	s.total.bytes += uint64(size)
}

func (s *saver) countTick(active bool, took time.Duration) {
	s.total.took += took
	if active {
		s.total.active++
	} else {
		s.total.idle++
	}
}

// A mark has the progress at a position.
type mark struct {
	at, tick uint64
	total    progress
}

const (
	markPart = 1.0 / 16 // a snapshot is due at 1
	maxMarks = 64
)

// mark remembers the progress here, unless the last mark is near, because other Worlds save at positions of their own.
func (s *saver) mark(h *position, bytes, ticks int) (marked bool) {
	n := len(s.marks)
	if n > 0 && s.total.since(s.marks[n-1].total).part(bytes, ticks) < markPart {
		return false
	}
	if n == maxMarks {
		s.marks = slices.Delete(s.marks, 0, 1)
	}
	s.marks = append(s.marks, mark{h.at, h.tick, s.total})
	return true
}

// markOf returns the last mark at or before a position; else the start of the progress.
func (s *saver) markOf(at uint64) mark {
	m := mark{tick: s.tick, total: s.base}
	for _, next := range s.marks {
		if next.at <= at && next.tick >= m.tick {
			m = next
		}
	}
	return m
}
