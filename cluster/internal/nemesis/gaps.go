package nemesis

import (
	"sync"
	"time"
)

// gaps measures how long no tick was applied by anybody, as the parent hears of them.
type gaps struct {
	mutex sync.Mutex
	seen
}

// seen is the state of gaps.
type seen struct {
	last    uint64 // newest tick
	at      time.Time
	longest time.Duration // since begin
	term    uint32        // newest
	termAt  time.Time
}

func (g *gaps) look() seen {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.seen
}

// applied takes that a node has applied a tick.
func (g *gaps) applied(tick uint64) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if tick <= g.last {
		return
	}
	now := time.Now()
	if g.last > 0 {
		g.longest = max(g.longest, now.Sub(g.at))
	}
	g.last, g.at = tick, now
}

// sawTerm takes the term that a node is in.
func (g *gaps) sawTerm(term uint32) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if term > g.term {
		g.term, g.termAt = term, time.Now()
	}
}

// begin begins to look for the longest gap. One that is open counts whole.
func (g *gaps) begin() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.longest = 0
}

// end returns the longest gap since begin, with the gap that is open.
func (g *gaps) end() time.Duration {
	s := g.look()
	return max(s.longest, time.Since(s.at))
}
