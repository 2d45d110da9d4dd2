//go:build unix

package nemesis

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"

	"handloom/cluster/internal/proxy"
	"handloom/proof/process"
)

// A member is a server, and what any process has.
type member struct {
	name  string
	words []string
	fleet *fleet
	hear  func(line string)

	clients []*proxy.Link // that lead to it, of nodes and the parent
	routes  []*proxy.Link // that lead to it, of other servers

	process *process.Process // nil: it does not run
	paused  bool

	mutex sync.Mutex
	up    bool   // it has said where it listens
	last  string // what it said, but for ticks
}

// start starts what does not run.
func (m *member) start() error {
	if m.process != nil {
		return nil
	}
	if err := os.MkdirAll(m.fleet.dir(m.name), 0o700); err != nil {
		return err
	}
	p, err := process.Start(slices.Concat(m.fleet.o.Command, []string{ChildCommand}, m.words), m.hear)
	if err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	m.process, m.paused = p, false
	return nil
}

// kill kills the process, which others notice at once.
func (m *member) kill() {
	if m.process == nil {
		return
	}
	m.process.Kill()
	m.down()
}

// down is when the process is no more.
func (m *member) down() {
	for _, l := range append(m.clients, m.routes...) {
		l.Down()
	}
	m.mutex.Lock()
	m.up = false
	m.mutex.Unlock()
	m.process, m.paused = nil, false
}

// pause lets the process stand still, and go on.
func (m *member) pause() {
	if m.process != nil {
		m.paused = true
		m.process.Signal(syscall.SIGSTOP)
	}
}

func (m *member) resume() {
	if m.process != nil && m.paused {
		m.paused = false
		m.process.Signal(syscall.SIGCONT)
	}
}

// ended reports whether the process has ended by itself.
func (m *member) ended() bool {
	if m.process == nil {
		return false
	}
	select {
	case <-m.process.Gone():
		return true
	default:
		return false
	}
}
