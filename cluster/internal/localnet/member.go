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

// A Member is a server or a node. Up, Kills and Note may be called by any goroutine, all
// other methods by the goroutine of the fleet.
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
	kills  int
	last   string // last noted line
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

// Kill kills the process. Others notice at once.
func (m *Member) Kill() {
	if m.process == nil {
		return
	}
	m.process.Kill()
	m.down()
	m.mutex.Lock()
	m.kills++
	m.mutex.Unlock()
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

// Strike sends SIGKILL without waiting.
func (m *Member) Strike() {
	if m.process != nil {
		m.process.Signal(os.Kill)
	}
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

// Pause stops the process, or lets it continue.
func (m *Member) Pause(paused bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.process == nil || m.paused == paused {
		return
	}
	if m.paused = paused; paused {
		m.process.Signal(stop)
	} else {
		m.process.Signal(proceed)
	}
}

// Up reports whether the process runs and listens.
func (m *Member) Up() bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.up && !m.paused
}

// Kills returns the number of kills.
func (m *Member) Kills() int {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.kills
}

// Note keeps a line for the error of a stuck fleet.
func (m *Member) Note(line string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.last = line
}

// receive takes a line: "listen" with the addresses for clients and for routes.
func (m *Member) receive(line string) {
	rest, listens := strings.CutPrefix(line, "listen ")
	client, route, _ := strings.Cut(rest, " ")
	if !listens && m.isNode {
		m.fleet.Receive(m, line)
		return
	}
	m.Note(line)
	if !listens || client == "" {
		m.fleet.Fault("%s says %q", m.Name, line)
		return
	}
	for _, l := range m.clients {
		l.Serve(client)
	}
	for _, l := range m.routes {
		l.Serve(route)
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.up = true
}
