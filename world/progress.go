package world

import "time"

// A progress counts bytes and ticks since Open. A difference of two decides whether a
// snapshot is due.
type progress struct {
	bytes        uint64 // of records
	active, idle uint64 // ticks; an active one flushes commands, of its input or its own
	took         time.Duration
}

// idleTicks count as one active tick. They bound the replay of a world that moves without
// commands.
const idleTicks = 100

// maxReplay is the time of ticks after which a snapshot is due, by this World's clock: only when a
// World saves may depend on it.
const maxReplay = time.Minute

func (p progress) since(from progress) progress {
	return progress{p.bytes - from.bytes, p.active - from.active, p.idle - from.idle, p.took - from.took}
}

// ticks counts both kinds: a follower holds its copy for a number of ticks of any kind.
func (p progress) ticks() uint64 { return p.active + p.idle }

// part returns p as a part of the progress after which a snapshot is due: 1 is due.
func (p progress) part(bytes, ticks int) float64 {
	work := float64(p.active) + float64(p.idle)/idleTicks
	return max(float64(p.bytes)/float64(bytes), work/float64(ticks), float64(p.took)/float64(maxReplay))
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

// towards returns the mark at a position from m to the later mark n, as if all records between had
// the same size and ticks, because other Worlds save at positions of their own.
func (m mark) towards(n mark, at uint64) mark {
	part, of := max(at, m.at)-m.at, n.at-m.at
	if part >= of {
		return n
	}
	p, share := n.total.since(m.total), func(n uint64) uint64 { return uint64(float64(n) * float64(part) / float64(of)) }
	return mark{m.at + part, m.tick + share(n.tick-m.tick), progress{
		m.total.bytes + share(p.bytes), m.total.active + share(p.active), m.total.idle + share(p.idle), m.total.took + time.Duration(share(uint64(p.took))),
	}}
}
