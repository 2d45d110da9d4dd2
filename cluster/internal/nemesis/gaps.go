package nemesis

import (
	"sync"
	"time"
)

// gaps measures the longest time without new ticks, as seen by the parent.
type gaps struct {
	mutex sync.Mutex
	seen
}

type seen struct {
	last    uint64 // newest tick
	at      time.Time
	longest time.Duration
}

func (g *gaps) look() seen {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.seen
}

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

// begin starts a measurement. An open gap counts from its begin.
func (g *gaps) begin() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.longest = 0
}

// end returns the longest gap since begin, including an open one.
func (g *gaps) end() time.Duration {
	s := g.look()
	return max(s.longest, time.Since(s.at))
}
