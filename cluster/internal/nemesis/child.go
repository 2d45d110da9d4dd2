package nemesis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

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
	s, err := server.NewServer(&server.Options{
		ServerName: name, Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, Logtime: true, LogFile: filepath.Join(dir, "log"),
		JetStream: true, StoreDir: dir, SyncAlways: true, LameDuckDuration: 2 * time.Second, LameDuckGracePeriod: time.Second,
		Cluster: server.ClusterOpts{Name: "nemesis", Host: "127.0.0.1", Port: server.RANDOM_PORT, NoAdvertise: true, Advertise: nobody},
		Routes:  server.RoutesFromStr(strings.Join(routes, ",")),
	})
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	s.Start()
	defer func() {
		s.Shutdown()
		s.WaitForShutdown()
	}()
	if !s.ReadyForConnections(startTime) || s.ClusterAddr() == nil {
		return errors.New("server does not start: see its log in " + dir)
	}
	duck := make(chan os.Signal, 1)
	signal.Notify(duck, lameDuck)
	c.Logf("listen %s %s", s.Addr(), s.ClusterAddr())
	select {
	case <-duck:
		s.LameDuckShutdown()
	case <-ctx.Done():
	}
	return nil
}
