package nemesis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster"
	"handloom/cluster/internal/audit"
	"handloom/cluster/internal/localnet"
)

// Members is the number of servers, and of nodes.
const Members = 3

// parent is the name of this process. Its links are never cut.
const parent = "parent"

var nodeWorkers = [Members]int{1, 2, 8}

const replayWorkers = 5

// A fleet is the set of processes of a run and the links between them.
type fleet struct {
	Options
	folder  string // of logs, journals and stores
	net     *localnet.Net
	servers []*member
	nodes   []*member
	all     []*member // servers first
	urls    []string  // server URLs for the parent

	auditor *audit.Auditor
	gaps    *gaps

	conn *nats.Conn
	js   jetstream.JetStream
}

func newFleet(o Options) (f *fleet, err error) {
	f = &fleet{Options: o, net: localnet.NewNet(), auditor: new(audit.Auditor), gaps: new(gaps)}
	if f.folder, err = os.MkdirTemp("", "nemesis-"); err != nil {
		return f, err
	}
	for i := range Members {
		s := &member{name: fmt.Sprint("s", i), fleet: f}
		s.receive = s.serverSays
		n := &member{name: fmt.Sprint("n", i), fleet: f}
		n.receive = n.nodeSays
		f.servers, f.nodes = append(f.servers, s), append(f.nodes, n)
	}
	f.all = slices.Concat(f.servers, f.nodes)
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
	mode := ""
	if o.Apart {
		mode = apart
	}
	for i, n := range f.nodes {
		urls, err := f.link(n.name, i)
		if err != nil {
			return f, err
		}
		n.words = []string{"node", f.dir(n.name), fmt.Sprint(nodeWorkers[i]), fmt.Sprint(o.Hz), strings.Join(urls, ","), o.Mutant, mode, f.snapshots()}
	}
	f.urls, err = f.link(parent, 0)
	return f, err
}

// link returns the URLs of the servers for from, beginning with server first.
func (f *fleet) link(from string, first int) (urls []string, err error) {
	for i := range Members {
		s := f.servers[(first+i)%Members]
		l, err := f.net.Link(from, s.name)
		if err != nil {
			return nil, err
		}
		s.clients = append(s.clients, l)
		urls = append(urls, "nats://"+l.Addr())
	}
	return urls, nil
}

func (f *fleet) dir(name string) string { return filepath.Join(f.folder, name) }

func (f *fleet) connect() (err error) {
	f.conn, err = nats.Connect(strings.Join(f.urls, ","), nats.MaxReconnects(-1), nats.ReconnectWait(askEvery), nats.RetryOnFailedConnect(true))
	if err == nil {
		f.js, err = jetstream.New(f.conn)
	}
	return err
}

// heal ends the fault and starts missing processes.
func (f *fleet) heal() error {
	f.net.Heal()
	var errs []error
	for _, m := range f.all {
		m.pause(false)
		if m.ended() {
			f.auditor.Fault("%s has ended by itself, and had said %q\n%s", m.name, m.last, m.process.Errors())
			m.down()
		}
		errs = append(errs, m.start())
	}
	return errors.Join(errs...)
}

func (f *fleet) close() {
	if f.conn != nil {
		f.conn.Close()
	}
	for _, m := range f.all {
		m.kill()
	}
	f.net.Close()
}

func (f *fleet) openLog(ctx context.Context) (*cluster.Log, error) {
	return openLog(ctx, cluster.URLs(f.urls), withSnapshots(cluster.Options{}, f.snapshots()))
}

// snapshots returns the folder of snapshots, or "" for the object store.
func (f *fleet) snapshots() string {
	if f.Seed%2 == 1 || isBucketMutant(f.Mutant) {
		return ""
	}
	return f.dir("snapshots")
}

func withSnapshots(o cluster.Options, dir string) cluster.Options {
	if dir != "" {
		o.Snapshots = cluster.Folder(dir)
	}
	return o
}

const askEvery = 20 * time.Millisecond

func until(ctx context.Context, is func() bool) error {
	deadline := time.Now().Add(recoveryTime)
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

// recoveryTime limits recoveries: some elections, and a server that catches up.
const recoveryTime = 2 * time.Minute

// ErrStuck means that the fleet did not recover within two minutes.
var ErrStuck = errors.New("fleet does not recover")

// waitHealthy waits until every process is up, all replicas are current, and nodes apply new
// ticks.
func (f *fleet) waitHealthy(ctx context.Context) error {
	from := f.gaps.look().last + 1
	if err := until(ctx, func() bool {
		if f.bad() {
			return true
		}
		for i, m := range f.all {
			if s, up := m.look(); !up || i >= Members && s.tick < from {
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
		return f.why(fmt.Errorf("replicas lag: %w", err))
	}
	return nil
}

func (f *fleet) bad() bool {
	found := f.auditor.Findings()
	return found.Bad()
}

// why adds the last output of each process to err.
func (f *fleet) why(err error) error {
	if !errors.Is(err, ErrStuck) {
		return err
	}
	for _, m := range f.all {
		m.mutex.Lock()
		err = fmt.Errorf("%w; %s: up %t, said %q", err, m.name, m.up, m.last)
		m.mutex.Unlock()
	}
	return fmt.Errorf("%w; newest tick %d", err, f.gaps.look().last)
}

// leader returns the server that leads the stream, or nil, and whether all others are current.
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
	current = len(c.Replicas) == Members-1
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

// owner returns the owner according to the running nodes, or nil.
func (f *fleet) owner() (owner *member) {
	var term uint32
	for _, n := range f.nodes {
		n.mutex.Lock()
		if n.up && !n.paused && n.state.owner && n.term >= term {
			owner, term = n, n.term
		}
		n.mutex.Unlock()
	}
	return owner
}
