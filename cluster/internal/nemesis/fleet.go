//go:build unix

package nemesis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster"
	"handloom/cluster/internal/audit"
	"handloom/cluster/internal/proxy"
)

const (
	members = 3       // servers, and nodes
	judge   = "judge" // what the parent is called, whose links nothing is done to
)

// workers of the nodes, and of replays.
var nodeWorkers = [members]int{1, 2, 8}

const replayWorkers = 5

// A fleet is the processes of a run, and the links between them.
type fleet struct {
	o       Options
	net     *proxy.Net
	servers [members]*member
	nodes   [members]*node
	urls    []string // of the servers, for the parent

	auditor *audit.Auditor
	gaps    *gaps

	conn *nats.Conn
	js   jetstream.JetStream
}

// A member is a server, and what any process has.
type member struct {
	name  string
	words []string
	fleet *fleet
	hear  func(line string)

	clients []*proxy.Link // that lead to it, of nodes and the parent
	routes  []*proxy.Link // that lead to it, of other servers

	process *process // nil: it does not run
	paused  bool

	mutex sync.Mutex
	up    bool   // it has said where it listens
	last  string // what it said, but for ticks
}

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

func newFleet(o Options, auditor *audit.Auditor, g *gaps) (*fleet, error) {
	f := &fleet{o: o, net: proxy.New(), auditor: auditor, gaps: g}
	for i := range members {
		s := &member{name: fmt.Sprint("s", i), fleet: f}
		s.hear = s.serverSays
		f.servers[i] = s
		n := &node{member: &member{name: fmt.Sprint("n", i), fleet: f}}
		n.hear = n.says
		f.nodes[i] = n
	}
	for _, s := range f.servers {
		var routes []string
		for _, other := range f.servers {
			if other == s {
				continue
			}
			l, err := f.net.Link(s.name, other.name)
			if err != nil {
				return f, err
			}
			other.routes = append(other.routes, l)
			routes = append(routes, "nats://"+l.Addr())
		}
		s.words = []string{"server", s.name, f.dir(s.name), strings.Join(routes, ",")}
	}
	for i, n := range f.nodes {
		urls, err := f.link(n.name)
		if err != nil {
			return f, err
		}
		n.words = []string{"node", n.name, f.dir(n.name), fmt.Sprint(nodeWorkers[i]), fmt.Sprint(o.Hz), strings.Join(urls, ","), o.Canary}
	}
	var err error
	f.urls, err = f.link(judge)
	return f, err
}

// link returns the URLs by which somebody reaches the servers.
func (f *fleet) link(from string) (urls []string, err error) {
	for _, s := range f.servers {
		l, err := f.net.Link(from, s.name)
		if err != nil {
			return nil, err
		}
		s.clients = append(s.clients, l)
		urls = append(urls, "nats://"+l.Addr())
	}
	return urls, nil
}

func (f *fleet) dir(name string) string { return filepath.Join(f.o.Dir, name) }

// each calls do for every process.
func (f *fleet) each(do func(m *member)) {
	for _, s := range f.servers {
		do(s)
	}
	for _, n := range f.nodes {
		do(n.member)
	}
}

// start starts what does not run.
func (m *member) start() error {
	if m.process != nil {
		return nil
	}
	if err := os.MkdirAll(m.fleet.dir(m.name), 0o700); err != nil {
		return err
	}
	p, err := start(m.fleet.o.Command, m.words, m.hear)
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
	m.process.kill()
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
		m.process.signal(syscall.SIGSTOP)
	}
}

func (m *member) resume() {
	if m.process != nil && m.paused {
		m.paused = false
		m.process.signal(syscall.SIGCONT)
	}
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

// connect connects the parent with the servers.
func (f *fleet) connect() (err error) {
	f.conn, err = nats.Connect(strings.Join(f.urls, ","), nats.MaxReconnects(-1), nats.ReconnectWait(askEvery), nats.RetryOnFailedConnect(true))
	if err == nil {
		f.js, err = jetstream.New(f.conn)
	}
	return err
}

// leader returns the server that leads the stream, nil if none does, and whether all
// others have all of it.
func (f *fleet) leader(ctx context.Context) (leader *member, current bool) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	stream, err := f.js.Stream(ctx, cell.Stream())
	if err != nil {
		return nil, false
	}
	c := stream.CachedInfo().Cluster
	if c == nil {
		return nil, false
	}
	current = len(c.Replicas) == members-1
	for _, r := range c.Replicas {
		current = current && r.Current && !r.Offline
	}
	for _, s := range f.servers {
		if s.name == c.Leader {
			leader = s
		}
	}
	return leader, current && leader != nil
}

// owner returns the node that owns the log, as far as nodes know that run, nil if none.
func (f *fleet) owner() *node {
	var owner *node
	var term uint32
	for _, n := range f.nodes {
		if s, _, up := n.look(); up && n.process != nil && !n.paused && s.owner && s.term >= term {
			owner, term = n, s.term
		}
	}
	return owner
}

const askEvery = 20 * time.Millisecond

// until waits for something, as long as settling may take.
func until(ctx context.Context, is func() bool) error {
	deadline := time.Now().Add(settleTime)
	for !is() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if time.Now().After(deadline) {
			return ErrStuck
		}
		time.Sleep(askEvery)
	}
	return nil
}

// settleTime is how long it may take until all is well behind an event: some elections, and
// a server that catches up.
const settleTime = 2 * time.Minute

// ErrStuck says that something did not get well within two minutes.
var ErrStuck = errors.New("it does not come back")

// heal ends what was done: it starts what does not run.
func (f *fleet) heal() error {
	f.net.Heal()
	var errs []error
	f.each(func(m *member) {
		m.resume()
		if m.process != nil && m.process.ended() {
			f.auditor.Fault("%s has ended by itself, and had said %q\n%s", m.name, m.last, m.process.errs.String())
			m.down()
		}
		errs = append(errs, m.start())
	})
	return errors.Join(errs...)
}

// settled waits until every process is up, all replicas are current, and every node applies
// new ticks.
func (f *fleet) settled(ctx context.Context) error {
	from := f.gaps.newest() + 1
	if err := until(ctx, func() bool {
		if f.bad() {
			return true
		}
		for _, s := range f.servers {
			if !s.isUp() {
				return false
			}
		}
		for _, n := range f.nodes {
			if s, _, up := n.look(); !up || s.tick < from {
				return false
			}
		}
		return f.owner() != nil
	}); err != nil {
		return f.why(err)
	}
	if err := until(ctx, func() bool {
		_, current := f.leader(ctx)
		return current || f.bad()
	}); err != nil {
		return f.why(fmt.Errorf("replicas are not current: %w", err))
	}
	return nil
}

func (f *fleet) bad() bool {
	found := f.auditor.Findings()
	return found.Bad()
}

// why says what each process said last.
func (f *fleet) why(err error) error {
	if !errors.Is(err, ErrStuck) {
		return err
	}
	f.each(func(m *member) {
		m.mutex.Lock()
		err = fmt.Errorf("%w; %s: up %t, said %q", err, m.name, m.up, m.last)
		m.mutex.Unlock()
	})
	return fmt.Errorf("%w; newest tick %d", err, f.gaps.newest())
}

// stop ends the nodes in order.
func (f *fleet) stopNodes() error {
	var errs []error
	for _, n := range f.nodes {
		if n.process == nil {
			continue
		}
		if err := n.process.end(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", n.name, err))
		}
		n.down()
	}
	return errors.Join(errs...)
}

// close ends all.
func (f *fleet) close() {
	if f.conn != nil {
		f.conn.Close()
	}
	f.each((*member).kill)
	f.net.Close()
}

// openLog opens the log for the parent.
func (f *fleet) openLog(ctx context.Context) (*cluster.Log, error) {
	return openLog(ctx, cluster.URLs(f.urls), cluster.Options{})
}
