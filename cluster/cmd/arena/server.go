package main

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// serverStarts is how long a server may take.
const serverStarts = 20 * time.Second

// startServer starts the node's server of the log, which finds the others as they come.
func (n *node) startServer() (*server.Server, error) {
	o := &server.Options{
		ServerName: fmt.Sprint("node", n.number+1), NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: filepath.Join(n.dir, "streams"), SyncAlways: true,
		Cluster: server.ClusterOpts{Name: "arena"},
	}
	var err error
	if o.Host, o.Port, err = hostPort(n.clients[n.number]); err != nil {
		return nil, err
	}
	if o.Cluster.Host, o.Cluster.Port, err = hostPort(n.routes[n.number]); err != nil {
		return nil, err
	}
	for _, address := range n.routes {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: address})
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, err
	}
	s.Start()
	if !s.ReadyForConnections(serverStarts) {
		s.Shutdown()
		return nil, fmt.Errorf("the server does not start at %s", n.clients[n.number])
	}
	return s, nil
}

func hostPort(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	return host, port, err
}
