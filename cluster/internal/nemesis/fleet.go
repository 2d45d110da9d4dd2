//go:build unix

package nemesis

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

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

// connect connects the parent with the servers.
func (f *fleet) connect() (err error) {
	f.conn, err = nats.Connect(strings.Join(f.urls, ","), nats.MaxReconnects(-1), nats.ReconnectWait(askEvery), nats.RetryOnFailedConnect(true))
	if err == nil {
		f.js, err = jetstream.New(f.conn)
	}
	return err
}

// heal ends what was done: it starts what does not run.
func (f *fleet) heal() error {
	f.net.Heal()
	var errs []error
	f.each(func(m *member) {
		m.resume()
		if m.ended() {
			f.auditor.Fault("%s has ended by itself, and had said %q\n%s", m.name, m.last, m.process.Errors())
			m.down()
		}
		errs = append(errs, m.start())
	})
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
