package localnet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// A Cluster is a set of servers. Its methods may be called by any goroutine.
type Cluster struct {
	options []*server.Options

	mutex   sync.Mutex
	running []*server.Server // nil: stopped
}

// Start starts n servers with folders within dir, and waits until they can keep streams. change
// may be nil, or changes the options of server i.
func Start(ctx context.Context, dir string, n int, change func(i int, o *server.Options)) (*Cluster, error) {
	ports := make([]int, n)
	var routes []*url.URL
	for i := range ports {
		var err error
		if ports[i], err = FreePort(); err != nil {
			return nil, err
		}
		routes = append(routes, &url.URL{Scheme: "nats", Host: net.JoinHostPort(host, strconv.Itoa(ports[i]+routeOffset))})
	}
	c := &Cluster{running: make([]*server.Server, n)}
	for i := range n {
		o := &server.Options{
			ServerName: fmt.Sprint("server", i), Host: host, Port: ports[i],
			NoSigs: true, NoLog: true,
			JetStream: true, StoreDir: filepath.Join(dir, fmt.Sprint("server", i)), SyncAlways: true,
		}
		if n > 1 {
			o.Routes = routes
			o.Cluster = server.ClusterOpts{Name: "handloom", Host: host, Port: ports[i] + routeOffset, PoolSize: -1}
		}
		if change != nil {
			change(i, o)
		}
		c.options = append(c.options, o)
	}
	for i := range n {
		if err := c.Restart(i); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	if err := c.Ready(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

const host = "127.0.0.1"

// startTime limits the start of a server on a busy machine.
const startTime = 2 * time.Minute

// Restart starts server i with its old files.
func (c *Cluster) Restart(i int) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.running[i] != nil {
		return nil
	}
	s, err := server.NewServer(c.options[i].Clone())
	if err != nil {
		return fmt.Errorf("servers: %s: %w", c.options[i].ServerName, err)
	}
	s.ConfigureLogger()
	s.Start()
	if !s.ReadyForConnections(startTime) {
		s.Shutdown()
		return fmt.Errorf("servers: %s does not start", c.options[i].ServerName)
	}
	c.running[i] = s
	return nil
}

// Add starts one more server next to the first.
func (c *Cluster) Add() (i int, err error) {
	port, err := FreePort()
	if err != nil {
		return 0, err
	}
	i = c.Len()
	o := c.options[0].Clone()
	o.ServerName = fmt.Sprint("server", i)
	o.StoreDir = filepath.Join(filepath.Dir(o.StoreDir), o.ServerName)
	o.Port, o.Cluster.Port = port, port+routeOffset
	c.mutex.Lock()
	c.options, c.running = append(c.options, o), append(c.running, nil)
	c.mutex.Unlock()
	return i, c.Restart(i)
}

// Stop stops a server without a handover, as far as possible within one process.
func (c *Cluster) Stop(i int) { c.stop(i, (*server.Server).Shutdown) }

// LameDuck stops a server in lame duck mode, as SIGUSR2 does: it gives its streams and
// connections to the others first.
func (c *Cluster) LameDuck(i int) { c.stop(i, (*server.Server).LameDuckShutdown) }

func (c *Cluster) stop(i int, how func(s *server.Server)) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if s := c.running[i]; s != nil {
		how(s)
		s.WaitForShutdown()
		c.running[i] = nil
	}
}

func (c *Cluster) Close() error {
	for i := range c.running {
		c.Stop(i)
	}
	return nil
}

// Options returns the options of server i at its next Restart.
func (c *Cluster) Options(i int) *server.Options { return c.options[i] }

// Len returns the number of servers, including stopped ones.
func (c *Cluster) Len() int { return len(c.options) }

func (c *Cluster) URL(i int) string {
	return "nats://" + net.JoinHostPort(host, strconv.Itoa(c.options[i].Port))
}

// Listeners returns the addresses of a running server for clients and for routes.
func (c *Cluster) Listeners(i int) (clients, routes net.Addr) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.running[i].Addr(), c.running[i].ClusterAddr()
}

// URLs returns the URLs of all servers, beginning with first.
func (c *Cluster) URLs(first int) (all []string) {
	for i := range c.options {
		all = append(all, c.URL((first+i)%len(c.options)))
	}
	return all
}

// up returns the running servers.
func (c *Cluster) up() []*server.Server {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.DeleteFunc(slices.Clone(c.running), func(s *server.Server) bool { return s == nil })
}

// Ready waits until JetStream has a leader and every running server follows it.
func (c *Cluster) Ready(ctx context.Context) error {
	behind := func(s *server.Server) bool { return !s.JetStreamIsCurrent() }
	for c.Len() > 1 {
		if up := c.up(); slices.ContainsFunc(up, (*server.Server).JetStreamIsLeader) && !slices.ContainsFunc(up, behind) {
			break
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("servers: no leader of JetStream: %w", context.Cause(ctx))
		}
	}
	return nil
}

// Reload makes every running server read its configuration file again.
func (c *Cluster) Reload() (err error) {
	for _, s := range c.up() {
		err = errors.Join(err, s.Reload())
	}
	return err
}

// Leader returns the server that leads a stream, or -1.
func (c *Cluster) Leader(stream string) (leader int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.IndexFunc(c.running, func(s *server.Server) bool {
		return s != nil && s.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, stream)
	})
}

// Connections returns the number of clients of all running servers.
func (c *Cluster) Connections() (n int) {
	for _, s := range c.up() {
		n += s.NumClients()
	}
	return n
}
