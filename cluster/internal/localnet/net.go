package localnet

import (
	"sync"
	"time"
)

// A Net is a number of links between processes that have names. Its methods may be
// called by several goroutines.
type Net struct {
	mutex   sync.Mutex
	changed chan struct{} // closed, and another one made, by every change
	closed  bool
	ways    map[way]weather
	links   []*Link
	passed  map[way]int64
	all     sync.WaitGroup
}

// A way is one direction of what two processes exchange.
type way struct{ from, to string }

// A weather is what happens to bytes on their way.
type weather struct {
	cut   bool
	delay time.Duration
}

// NewNet returns a Net without links. Whoever has it closes it.
func NewNet() *Net {
	return &Net{changed: make(chan struct{}), ways: make(map[way]weather), passed: make(map[way]int64)}
}

// Cut holds what from says to, on every link between them, until it is healed.
func (n *Net) Cut(from, to string) { n.set(way{from, to}, weather{cut: true}) }

// Delay lets what from says to arrive later by d, or by up to 2 d while there is more.
func (n *Net) Delay(from, to string, d time.Duration) { n.set(way{from, to}, weather{delay: d}) }

func (n *Net) set(w way, is weather) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.ways[w] = is
	n.wake()
}

// Heal ends every cut and delay. What was held arrives now.
func (n *Net) Heal() {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	clear(n.ways)
	n.wake()
}

// Reset closes the connections between two processes that are cut, in any direction: what
// was held is lost, and they have to dial again.
func (n *Net) Reset() {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	for _, l := range n.links {
		if n.ways[way{l.from, l.to}].cut || n.ways[way{l.to, l.from}].cut {
			l.closeConns()
		}
	}
}

// Passed is how many bytes of from have arrived at to.
func (n *Net) Passed(from, to string) int64 {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return n.passed[way{from, to}]
}

// wake tells all that wait that something has changed.
func (n *Net) wake() {
	close(n.changed)
	n.changed = make(chan struct{})
}

// Close closes every link and connection, and returns when nothing of them runs.
func (n *Net) Close() {
	n.mutex.Lock()
	n.closed = true
	for _, l := range n.links {
		l.listener.Close()
		l.closeConns()
	}
	n.wake()
	n.mutex.Unlock()
	n.all.Wait()
}
