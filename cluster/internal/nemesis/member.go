package nemesis

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"handloom/cluster/internal/localnet"
	"handloom/proof/process"
)

type member struct {
	name    string
	words   []string
	fleet   *fleet
	receive func(line string)

	clients []*localnet.Link
	routes  []*localnet.Link

	process *process.Process // nil: not running

	mutex   sync.Mutex
	up      bool // has opened its world, or listens
	paused  bool
	kills   int
	last    string // last output except ticks
	asked   int    // number of requests
	waiting map[int]chan<- string

	saveErr string // error of the node's last save, or ""
	state
}

// state is the last report of a node.
type state struct {
	owner             bool
	term              uint32
	tick, lostAppends uint64
}

func (m *member) start() error {
	if m.process != nil {
		return nil
	}
	if err := os.MkdirAll(m.fleet.dir(m.name), 0o700); err != nil {
		return err
	}
	path, err := os.Executable()
	if err != nil {
		return err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	p, err := process.Start(slices.Concat([]string{path, ChildCommand}, m.words), nil, m.receive)
	if err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	m.process = p
	return nil
}

// kill kills the process. Others notice at once.
func (m *member) kill() {
	if m.process == nil {
		return
	}
	m.process.Kill()
	m.down()
	m.mutex.Lock()
	m.kills++
	m.mutex.Unlock()
}

// down records that the process has ended.
func (m *member) down() {
	for _, l := range slices.Concat(m.clients, m.routes) {
		l.Down()
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.up, m.paused, m.process = false, false, nil
	for _, answer := range m.waiting {
		close(answer)
	}
	m.waiting = nil
}

// request sends a line to a node, unless it is down. The answer is "" if it is unknown.
func (m *member) request(line string) (answer string, sent bool) {
	m.mutex.Lock()
	if !m.up {
		m.mutex.Unlock()
		return "", false
	}
	if m.waiting == nil {
		m.waiting = make(map[int]chan<- string)
	}
	m.asked++
	id, got := m.asked, make(chan string, 1)
	m.waiting[id] = got
	fmt.Fprintln(m.process, id, line)
	m.mutex.Unlock()
	select {
	case answer = <-got:
	case <-time.After(patience):
		m.answer(fmt.Sprint(id))
	}
	return answer, true
}

// answer passes the answer to a request on: its number, and a text.
func (m *member) answer(line string) {
	number, text, _ := strings.Cut(line, " ")
	id, _ := strconv.Atoi(number)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if got, ok := m.waiting[id]; ok {
		got <- text
		delete(m.waiting, id)
	}
}

func (m *member) pause(paused bool) {
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

// look returns the last report of a node, and whether it is up.
func (m *member) look() (s state, up bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.state, m.up
}

func (m *member) isUp() bool {
	_, up := m.look()
	return up
}

// note keeps an output line for the error of a stuck fleet.
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

func (m *member) nodeSays(line string) {
	what, rest, _ := strings.Cut(line, " ")
	var tick, digest uint64
	var err error
	switch what {
	case "tick", "replay":
		if _, err = fmt.Sscan(rest, &tick, &digest); err == nil {
			m.fleet.auditor.Applied(m.name, tick, digest)
			m.fleet.gaps.applied(tick)
		}
	case "status":
		var s state
		if _, err = fmt.Sscan(rest, &s.owner, &s.term, &s.tick, &s.lostAppends); err == nil {
			m.fleet.gaps.sawTerm(s.term)
			m.mutex.Lock()
			m.state, m.up = s, true
			m.mutex.Unlock()
		}
	case "answer":
		m.answer(rest)
	case "open":
		m.note(line)
		m.mutex.Lock()
		m.saveErr, m.state = "", state{}
		m.mutex.Unlock()
	case "save":
		m.mutex.Lock()
		m.saveErr = rest
		m.mutex.Unlock()
	case "wait", "cut", "closed":
		m.note(line)
	default: // fail, or an incomplete line
		m.note(line)
		m.fleet.auditor.Fault("%s says %q", m.name, line)
	}
	if err != nil {
		m.fleet.auditor.Fault("%s says %q: %v", m.name, line, err)
	}
}
