package localnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Size is the number of servers, and of nodes.
const Size = 3

// parent is the name of this process. Its links are never cut.
const parent = "parent"

// Options of a fleet.
type Options struct {
	// Node returns the arguments of node i, for the function of [Child]. dir is the folder of the
	// fleet, urls has the servers, beginning with server i, separated by commas.
	Node func(i int, dir, urls string) []string

	Receive func(m *Member, line string) // called with lines of nodes, except "wait REASON"
	Out     io.Writer                    // gets events and faults
}

// A Fleet is a set of processes and the links between them. Methods that start, heal or end
// processes are for one goroutine.
type Fleet struct {
	Options
	Dir     string // of logs, journals and stores
	Net     *Net
	Servers []*Member
	Nodes   []*Member
	All     []*Member // servers first
	URLs    []string  // of the servers, for this process
	JS      jetstream.JetStream
	conn    *nats.Conn
	begun   time.Time

	mutex  sync.Mutex
	faults []string
}

// Logf writes a line with the time.
func (f *Fleet) Logf(format string, args ...any) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	fmt.Fprintf(f.Out, "%7.1fs  %s\n", time.Since(f.begun).Seconds(), fmt.Sprintf(format, args...))
}

const maxFaults = 20

// Fault reports something lost, changed, repeated or different, which ends every wait.
func (f *Fleet) Fault(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	f.mutex.Lock()
	f.faults = append(f.faults, text)
	n := len(f.faults)
	f.mutex.Unlock()
	if n <= maxFaults {
		f.Logf("fault: %s", text)
	}
}

// Bad reports whether there is a fault.
func (f *Fleet) Bad() bool { return len(f.Faults()) > 0 }

// Faults returns the texts of faults.
func (f *Fleet) Faults() []string {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.faults[:len(f.faults):len(f.faults)]
}

// newFleet creates a fleet without processes, which [Fleet.Start] starts. They execute this
// program. Close it, also after an error.
func newFleet(o Options) (f *Fleet, err error) {
	f = &Fleet{Options: o, Net: NewNet(), begun: time.Now()}
	if f.Dir, err = os.MkdirTemp("", "fleet-"); err != nil {
		return f, err
	}
	for i := range Size {
		f.Servers = append(f.Servers, &Member{Name: fmt.Sprint("s", i), Index: i, fleet: f})
		f.Nodes = append(f.Nodes, &Member{Name: fmt.Sprint("n", i), Index: i, fleet: f, isNode: true})
	}
	f.All = slices.Concat(f.Servers, f.Nodes)
	for _, s := range f.Servers {
		var routes []string
		for _, other := range f.Servers {
			if other != s {
				routes = append(routes, f.link(&err, s.Name, other, &other.routes))
			}
		}
		s.words = []string{serverChild, s.Name, f.path(s.Name), strings.Join(routes, ",")}
	}
	for i, n := range f.Nodes {
		n.words = append([]string{nodeChild}, o.Node(i, f.Dir, strings.Join(f.links(&err, n.Name, i), ","))...)
	}
	f.URLs = f.links(&err, parent, 0)
	return f, err
}

// Start starts all processes.
func (f *Fleet) Start() error {
	err := f.Heal()
	if err == nil {
		f.conn, err = nats.Connect(strings.Join(f.URLs, ","), nats.MaxReconnects(-1), nats.ReconnectWait(askEvery), nats.RetryOnFailedConnect(true))
	}
	if err == nil {
		f.JS, err = jetstream.New(f.conn)
	}
	return err
}

// link adds a link to a server and returns its URL.
func (f *Fleet) link(failed *error, from string, to *Member, links *[]*Link) string {
	l, err := f.Net.Link(from, to.Name)
	if err != nil {
		*failed = err
		return ""
	}
	*links = append(*links, l)
	return "nats://" + l.Addr()
}

// links returns the URLs of the servers, beginning with server first.
func (f *Fleet) links(failed *error, from string, first int) (urls []string) {
	for i := range Size {
		s := f.Servers[(first+i)%Size]
		urls = append(urls, f.link(failed, from, s, &s.clients))
	}
	return urls
}

func (f *Fleet) path(name string) string { return filepath.Join(f.Dir, name) }

// Heal ends all faults and starts missing processes.
func (f *Fleet) Heal() error {
	f.Net.Heal()
	var errs []error
	for _, m := range f.All {
		m.signal(proceed, false)
		if m.process != nil {
			select {
			case <-m.process.Gone():
				f.Fault("%s has ended by itself, and had said %q\n%s", m.Name, m.last, m.process.Errors())
				m.down()
			default:
			}
		}
		errs = append(errs, m.start())
	}
	return errors.Join(errs...)
}

// Kill kills processes at once. Others notice at once.
func (f *Fleet) Kill(all ...*Member) {
	all = slices.DeleteFunc(slices.Clone(all), func(m *Member) bool { return m.process == nil })
	for _, m := range all {
		m.process.Signal(os.Kill)
	}
	for _, m := range all {
		m.process.Kill()
		m.down()
	}
}

// End ends the nodes in order, and calls then after each.
func (f *Fleet) End(then func() error) error {
	var errs []error
	for _, n := range f.Nodes {
		if n.process != nil {
			errs = append(errs, n.End())
		}
		if errors.Join(errs...) == nil {
			errs = append(errs, then())
		}
	}
	return errors.Join(errs...)
}

// close kills all processes.
func (f *Fleet) close() {
	if f.conn != nil {
		f.conn.Close()
	}
	f.Kill(f.All...)
	f.Net.Close()
}

const askEvery = 20 * time.Millisecond

// recoveryTime limits recoveries: some elections, and a server that catches up.
const recoveryTime = 2 * time.Minute

// ErrStuck means that the fleet did not recover within two minutes.
var ErrStuck = errors.New("fleet does not recover")

// Until waits for a condition, or until the fleet is bad.
func (f *Fleet) Until(ctx context.Context, is func() bool) error {
	deadline := time.Now().Add(recoveryTime)
	for !f.Bad() && !is() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if time.Now().After(deadline) {
			err := ErrStuck
			for _, m := range f.All {
				m.mutex.Lock()
				err = fmt.Errorf("%w; %s: up %t, said %q", err, m.Name, m.up, m.last)
				m.mutex.Unlock()
			}
			return err
		}
		time.Sleep(askEvery)
	}
	return nil
}

// Up reports whether all processes are up.
func (f *Fleet) Up() bool {
	return !slices.ContainsFunc(f.All, func(m *Member) bool { return !m.Up() })
}

// Leader returns the server that leads a stream, or nil, and whether all others are current.
func (f *Fleet) Leader(ctx context.Context, stream string) (leader *Member, current bool) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	s, err := f.JS.Stream(ctx, stream)
	if err != nil || s.CachedInfo().Cluster == nil {
		return nil, false
	}
	c := s.CachedInfo().Cluster
	current = len(c.Replicas) == Size-1
	for _, r := range c.Replicas {
		current = current && r.Current && !r.Offline
	}
	if i := slices.IndexFunc(f.Servers, func(s *Member) bool { return s.Name == c.Leader }); i >= 0 {
		return f.Servers[i], current
	}
	return nil, false
}
