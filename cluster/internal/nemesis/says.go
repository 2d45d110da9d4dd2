//go:build unix

package nemesis

import (
	"fmt"
	"strings"
)

// A node plays the world.
type node struct {
	*member
	addr string // where its clients call; kept by the mutex
	state
}

// state is what a node said of itself last.
type state struct {
	owner           bool
	term            uint32
	tick, overtaken uint64
}

func (m *member) isUp() bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.up
}

// note keeps what a process said that is not a tick, for who asks why it is not up.
func (m *member) note(line string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.last = line
}

func (m *member) serverSays(line string) {
	m.note(line)
	var client, route string
	if _, err := fmt.Sscanf(line, "listen %s %s", &client, &route); err != nil {
		m.fleet.auditor.Fault("%s says %q", m.name, line)
		return
	}
	for _, l := range m.clients {
		l.Serve(client)
	}
	for _, l := range m.routes {
		l.Serve(route)
	}
	m.mutex.Lock()
	m.up = true
	m.mutex.Unlock()
}

// says takes a line of a node.
func (n *node) says(line string) {
	what, rest, _ := strings.Cut(line, " ")
	var tick, digest uint64
	var err error
	switch what {
	case "tick", "replay":
		if _, err = fmt.Sscan(rest, &tick, &digest); err == nil {
			n.fleet.auditor.Applied(n.name, tick, digest)
			n.fleet.gaps.applied(tick)
		}
	case "status":
		var s state
		if _, err = fmt.Sscan(rest, &s.owner, &s.term, &s.tick, &s.overtaken); err == nil {
			n.fleet.gaps.sawTerm(s.term)
			n.mutex.Lock()
			n.state, n.up = s, true
			n.mutex.Unlock()
		}
	case "listen":
		n.note(line)
		n.mutex.Lock()
		n.addr, n.state = rest, state{}
		n.mutex.Unlock()
	case "wait", "cut", "closed":
		n.note(line)
	default: // fail, or half a line
		n.note(line)
		n.fleet.auditor.Fault("%s says %q", n.name, line)
	}
	if err != nil {
		n.fleet.auditor.Fault("%s says %q: %v", n.name, line, err)
	}
}

// look returns what the node said last, and whether the world is open.
func (n *node) look() (s state, addr string, up bool) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return n.state, n.addr, n.up
}
