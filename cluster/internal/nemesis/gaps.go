package nemesis

import (
	"sync"
	"time"
)

// gaps measures how long no tick was applied by anybody, as the parent hears of them.
type gaps struct {
	mutex   sync.Mutex
	last    uint64 // tick
	at      time.Time
	longest time.Duration // since begin
	term    uint32
	termAt  time.Time
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

// end returns the longest gap since begin, that which is open included.
func (g *gaps) end() time.Duration {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return max(g.longest, time.Since(g.at))
}

// open returns how long ago the last tick was applied.
func (g *gaps) open() time.Duration {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return time.Since(g.at)
}

func (g *gaps) newest() uint64 {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.last
}

// terms returns the newest term, and since when it is known.
func (g *gaps) terms() (uint32, time.Time) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.term, g.termAt
}
