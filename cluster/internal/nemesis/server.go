//go:build unix

package nemesis

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

const startTime = 20 * time.Second

// server is one of the servers of the cluster. What others are told to dial is a port
// that nobody listens on: whoever wants to reach it has a link.
func (c child) server(ctx context.Context, name, dir string, routes []string) error {
	const nobody = "127.0.0.1:1"
	s, err := server.NewServer(&server.Options{
		ServerName: name, Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, Logtime: true, LogFile: filepath.Join(dir, "log"),
		JetStream: true, StoreDir: dir, SyncAlways: true,
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
		return errors.New("the server does not start; its log is in " + dir)
	}
	c.Say("listen %s %s", s.Addr(), s.ClusterAddr())
	<-ctx.Done()
	return nil
}
