package localnet

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"handloom/proof/process"
)

// A Member is a server or a node. Up may be called by any goroutine, all other methods by the
// goroutine of the fleet.
type Member struct {
	Name  string
	Index int // among nodes or servers

	fleet           *Fleet
	isNode          bool
	words           []string
	clients, routes []*Link
	process         *process.Process // nil: not running

	mutex  sync.Mutex
	up     bool // listens
	paused bool
	last   string // last line, except reports
}

func (m *Member) start() error {
	if m.process != nil {
		return nil
	}
	if err := os.MkdirAll(m.fleet.path(m.Name), 0o700); err != nil {
		return err
	}
	path, err := os.Executable()
	if err != nil {
		return err
	}
	if m.process, err = process.Start(slices.Concat([]string{path, ChildCommand}, m.words), nil, m.receive); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return nil
}

// endTime is the time after which End closes the input of a process with a signal.
const endTime = 20 * time.Second

// End ends the process in order, by signals or by the end of its input.
func (m *Member) End(signals ...os.Signal) error {
	for _, s := range signals {
		m.process.Signal(s)
		select {
		case <-m.process.Gone():
		case <-time.After(endTime):
		}
	}
	err := m.process.End()
	m.down()
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return nil
}

// down records that the process has ended.
func (m *Member) down() {
	for _, l := range slices.Concat(m.clients, m.routes) {
		l.Down()
	}
	m.process = nil
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.up, m.paused = false, false
}

// Pause stops the process until Heal.
func (m *Member) Pause() { m.signal(stop, true) }

// SlowDisk makes each fsync of the process take 200 ms longer, until Heal.
func (m *Member) SlowDisk() { m.signal(slowDisk, false) }

func (m *Member) signal(s os.Signal, paused bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.process != nil {
		m.paused = paused
		m.process.Signal(s)
	}
}

// Up reports whether the process runs and listens.
func (m *Member) Up() bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.up && !m.paused
}

// receive takes a line: "listen" with the addresses for clients and for routes of a server,
// "wait" with the reason, or a report of a node.
func (m *Member) receive(line string) {
	what, rest, _ := strings.Cut(line, " ")
	if m.isNode && what != "wait" {
		m.fleet.Receive(m, line)
		if what != "listen" {
			return
		}
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.last = line
	switch what {
	case "wait":
	case "listen":
		clients, routes, _ := strings.Cut(rest, " ")
		for _, l := range m.clients {
			l.Serve(clients)
		}
		for _, l := range m.routes {
			l.Serve(routes)
		}
		m.up = true
	default:
		m.fleet.Fault("%s says %q", m.Name, line)
	}
}
