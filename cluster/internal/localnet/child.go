package localnet

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"handloom/proof/process"
)

// ChildCommand is the first argument of a child.
const ChildCommand = "fleet-child"

const serverChild, nodeChild = "server", "node"

// A Node runs a node with its arguments until ctx ends.
type Node func(ctx context.Context, c *process.Child, words []string) error

// Child runs a server, or node with its arguments, until in ends. It reports on out.
func Child(words []string, in io.Reader, out io.Writer, node Node) (exit int) {
	return process.Serve(in, out, func(ctx context.Context, c *process.Child) error {
		disk := make(chan os.Signal, 1)
		signal.Notify(disk, slowDisk, proceed)
		go obeyDisk(c, disk)
		switch {
		case len(words) == 4 && words[0] == serverChild:
			return runServer(ctx, c, words[1], words[2], strings.Split(words[3], ","))
		case len(words) > 1 && words[0] == nodeChild:
			return node(ctx, c, words[1:])
		}
		return fmt.Errorf("child: got arguments %q", words)
	})
}

// syncDelay is the delay of each fsync on a slow disk.
const syncDelay = 200 * time.Millisecond

// obeyDisk makes the disk slow from the signal slowDisk to the signal proceed.
func obeyDisk(c *process.Child, signals <-chan os.Signal) {
	var delay atomic.Int64
	install := sync.OnceValue(func() error { return delaySyncs(&delay) })
	for s := range signals {
		delay.Store(0)
		if s == slowDisk {
			delay.Store(int64(syncDelay))
			if err := install(); err != nil {
				c.Logf("fail slow disk: %v", err)
			}
		}
	}
}

// runServer advertises a port without a listener, so every connection uses a link.
func runServer(ctx context.Context, c *process.Child, name, dir string, routes []string) error {
	const nobody = "127.0.0.1:1"
	s, err := Start(ctx, dir, 1, func(_ int, o *server.Options) {
		o.ServerName, o.StoreDir, o.Port = name, dir, server.RANDOM_PORT
		o.NoLog, o.Logtime, o.LogFile = false, true, filepath.Join(dir, "log")
		o.LameDuckDuration, o.LameDuckGracePeriod = 2*time.Second, time.Second
		o.Cluster = server.ClusterOpts{Name: "fleet", Host: o.Host, Port: server.RANDOM_PORT, NoAdvertise: true, Advertise: nobody}
		o.Routes = server.RoutesFromStr(strings.Join(routes, ","))
	})
	if err != nil {
		return fmt.Errorf("%w: see its log in %s", err, dir)
	}
	defer s.Close()
	duck := make(chan os.Signal, 1)
	signal.Notify(duck, LameDuck)
	clients, others := s.Listeners(0)
	c.Logf("listen %v %v", clients, others)
	select {
	case <-duck:
		s.LameDuck(0)
	case <-ctx.Done():
	}
	return nil
}
