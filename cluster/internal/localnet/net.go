package localnet

import (
	"math"
	"sync"
	"time"
)

// A Net is a set of links between named processes. Several goroutines may call its methods.
type Net struct {
	mutex   sync.Mutex
	changed chan struct{} // closed and replaced by every change
	closed  bool
	delays  map[way]time.Duration
	links   []*Link
	passed  map[way]int64
	all     sync.WaitGroup
}

// A way is one direction between two processes.
type way struct{ from, to string }

// cut is a delay without an end.
const cut time.Duration = math.MaxInt64

// NewNet returns a Net without links. Close it after use.
func NewNet() *Net {
	return &Net{changed: make(chan struct{}), delays: make(map[way]time.Duration), passed: make(map[way]int64)}
}

// Cut holds bytes in one direction, on all links between both processes, until Heal.
func (n *Net) Cut(from, to string) { n.Delay(from, to, cut) }

// Delay delays bytes in one direction by d, or up to 2 d under load.
func (n *Net) Delay(from, to string, d time.Duration) {
	n.change(func() { n.delays[way{from, to}] = d })
}

// Heal ends every cut and delay. Held bytes arrive.
func (n *Net) Heal() { n.change(func() { clear(n.delays) }) }

func (n *Net) change(do func()) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	do()
	close(n.changed)
	n.changed = make(chan struct{})
}

// Reset closes the connections between processes with a cut. Held bytes are lost.
func (n *Net) Reset() {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	for _, l := range n.links {
		if l.isCut() {
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

// await waits for the end of the delay and the cut, and reports whether the Net is open.
func (n *Net) await(w way) bool {
	begun := time.Now()
	n.mutex.Lock()
	defer n.mutex.Unlock()
	for !n.closed {
		left := n.delays[w] - time.Since(begun)
		if left <= 0 {
			return true
		}
		changed := n.changed
		n.mutex.Unlock()
		select {
		case <-changed:
		case <-time.After(left):
		}
		n.mutex.Lock()
	}
	return false
}

// Close closes every link and connection, and waits for their goroutines.
func (n *Net) Close() {
	n.change(func() {
		n.closed = true
		for _, l := range n.links {
			l.listener.Close()
			l.closeConns()
		}
	})
	n.all.Wait()
}
