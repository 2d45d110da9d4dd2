package nemesis

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"handloom/cluster/internal/localnet"
	"handloom/proof/process"
)

// ChildCommand is the first argument of a child.
const ChildCommand = "nemesis-child"

type child struct{ *process.Child }

// Child runs a server or a node until in ends. It reports on out.
func Child(words []string, in io.Reader, out io.Writer, game NewGame) (exit int) {
	calls, pipe := io.Pipe()
	return process.Serve(io.TeeReader(in, pipe), out, func(ctx context.Context, p *process.Child) error {
		c := child{p}
		switch {
		case len(words) == 4 && words[0] == "server":
			return c.server(ctx, words[1], words[2], strings.Split(words[3], ","))
		case len(words) == 8 && words[0] == "node":
			return c.node(ctx, words[1:], calls, game)
		}
		return fmt.Errorf("child: got arguments %q", words)
	})
}

const startTime = 20 * time.Second

// server advertises a port without a listener, so every connection uses a link.
func (c child) server(ctx context.Context, name, dir string, routes []string) error {
	const nobody = "127.0.0.1:1"
	s, err := localnet.Start(ctx, dir, 1, func(_ int, o *server.Options) {
		o.ServerName, o.StoreDir, o.Port = name, dir, server.RANDOM_PORT
		o.NoLog, o.Logtime, o.LogFile = false, true, filepath.Join(dir, "log")
		o.LameDuckDuration, o.LameDuckGracePeriod = 2*time.Second, time.Second
		o.Cluster = server.ClusterOpts{Name: "nemesis", Host: o.Host, Port: server.RANDOM_PORT, NoAdvertise: true, Advertise: nobody}
		o.Routes = server.RoutesFromStr(strings.Join(routes, ","))
	})
	if err != nil {
		return fmt.Errorf("%w: see its log in %s", err, dir)
	}
	defer s.Close()
	duck := make(chan os.Signal, 1)
	signal.Notify(duck, lameDuck)
	clients, others := s.Listeners(0)
	c.Logf("listen %v %v", clients, others)
	select {
	case <-duck:
		s.LameDuck(0)
	case <-ctx.Done():
	}
	return nil
}
