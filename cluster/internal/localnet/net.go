package localnet

import (
	"sync"
	"time"
)

// A Net is a set of links between named processes. Several goroutines may call its methods.
type Net struct {
	mutex   sync.Mutex
	changed chan struct{} // closed and replaced by every change
	closed  bool
	ways    map[way]weather
	links   []*Link
	passed  map[way]int64
	all     sync.WaitGroup
}

// A way is one direction between two processes.
type way struct{ from, to string }

// A weather is the fault of a way.
type weather struct {
	cut   bool
	delay time.Duration
}

// NewNet returns a Net without links. Close it after use.
func NewNet() *Net {
	return &Net{changed: make(chan struct{}), ways: make(map[way]weather), passed: make(map[way]int64)}
}

// Cut holds bytes in one direction, on all links between both processes, until Heal.
func (n *Net) Cut(from, to string) { n.set(way{from, to}, weather{cut: true}) }

// Delay delays bytes in one direction by d, or up to 2 d under load.
func (n *Net) Delay(from, to string, d time.Duration) { n.set(way{from, to}, weather{delay: d}) }

func (n *Net) set(w way, is weather) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.ways[w] = is
	n.wake()
}

// Heal ends every cut and delay. Held bytes arrive.
func (n *Net) Heal() {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	clear(n.ways)
	n.wake()
}

// Reset closes the connections between processes with a cut. Held bytes are lost.
func (n *Net) Reset() {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	for _, l := range n.links {
		if n.ways[way{l.from, l.to}].cut || n.ways[way{l.to, l.from}].cut {
			l.closeConns()
		}
	}
}

// Passed returns the number of bytes that arrived.
func (n *Net) Passed(from, to string) int64 {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return n.passed[way{from, to}]
}

func (n *Net) wake() {
	close(n.changed)
	n.changed = make(chan struct{})
}

// Close closes every link and connection, and waits for their goroutines.
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
