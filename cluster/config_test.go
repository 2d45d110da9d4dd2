package cluster_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"handloom/cluster"
	"handloom/cluster/internal/localnet"
	"handloom/cluster/internal/rights"
)

// A secured cluster runs with files of cluster/cmd/config.
type secured struct {
	*localnet.Cluster
	dir   string
	hosts []string
	urls  []string
}

func startSecured(t *testing.T) *secured {
	t.Helper()
	s := &secured{dir: filepath.Join(t.TempDir(), "config")}
	for range 3 {
		s.hosts = append(s.hosts, fmt.Sprint("localhost:", freePort(t)))
		s.urls = append(s.urls, "nats://"+s.hosts[len(s.hosts)-1])
	}
	s.write(t, s.dir)
	s.Cluster = startServers(t, 3, func(i int, o *server.Options) { *o = *s.options(t, i+1) })
	return s
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := localnet.FreePort()
	noError(t, err)
	return port
}

func (s *secured) write(t *testing.T, dir string) {
	t.Helper()
	noError(t, errorOf(rights.Write(rights.Options{Servers: s.hosts, Dir: dir})))
}

// options returns the options in the file of server i, without the page of monitoring, whose port
// may be in use.
func (s *secured) options(t *testing.T, i int) *server.Options {
	t.Helper()
	file := filepath.Join(s.dir, fmt.Sprint("server-", i), "server.conf")
	text, err := os.ReadFile(file)
	noError(t, err)
	noError(t, os.WriteFile(file, regexp.MustCompile("(?m)^http: .*$").ReplaceAll(text, nil), 0o600))
	conf, err := server.ProcessConfigFile(file)
	noError(t, err)
	conf.NoLog, conf.NoSigs = true, true
	return conf
}

func (s *secured) as(user string) cluster.Servers {
	return connect(filepath.Join(s.dir, user), s.urls...)
}

// The account has no limits of subjects, so a part that works shows that all do.
func TestRights_SufficeForTheProgram(t *testing.T) {
	t.Parallel()
	c := startSecured(t)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	n, err := cluster.Join(ctx, c.as("program"), cluster.Host{Name: "a", Open: openScore})
	noError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	noError(t, n.Place(ctx, 7, 1))
	for _, want := range []string{"21", "42"} {
		if reply, err := n.Call(ctx, 7, []byte("21")); string(reply) != want || err != nil {
			t.Errorf("got %q, %v, want %q", reply, err, want)
		}
	}
	l := openLog(t, c.as("program"), 9, cluster.Options{})
	fill(t, l, 5)
	saveText(t, l, 5)
	wantSaved(t, l, 5)
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestRights_KeepOthersOut(t *testing.T) {
	t.Parallel()
	c := startSecured(t)
	routes := startRogue(t, c)
	foreign := &secured{dir: filepath.Join(t.TempDir(), "foreign"), hosts: c.hosts}
	foreign.write(t, foreign.dir)
	file := func(dir, name string) string { return filepath.Join(dir, name) }
	ours, theirs := file(c.dir, "program"), file(foreign.dir, "program")
	roots := nats.RootCAs(file(ours, "ca.pem"))
	for name, s := range map[string]cluster.Servers{
		"no certificate":      cluster.URLs(c.urls, roots),
		"foreign certificate": cluster.URLs(c.urls, roots, nats.ClientCert(file(theirs, "node.pem"), file(theirs, "node.key"))),
		"server certificate":  cluster.URLs(c.urls, roots, nats.ClientCert(file(c.dir, "server-1/server.pem"), file(c.dir, "server-1/server.key"))),
		"operator":            c.as("operator"), // has no streams
	} {
		if enters(t, s) == nil {
			t.Errorf("%s: Open succeeds", name)
		}
	}
	openLog(t, c.as("program"), 7, cluster.Options{}) // the servers do answer

	// The certificate of a node makes no server, except if the routes trust its authority.
	if routes() > 0 {
		t.Error("a node acts as a server")
	}
	for i := 1; i <= 3; i++ {
		appendFile(t, file(c.dir, fmt.Sprintf("server-%d/routes-ca.pem", i)), file(c.dir, "ca/nodes.pem"))
	}
	noError(t, c.Reload())
	for ctx := cluster.Wait(t); routes() == 0; time.Sleep(10 * time.Millisecond) {
		noError(t, ctx.Err()) // without the guard the attack succeeds
	}
}

// startRogue starts a server with the files of a node, and returns its number of routes.
func startRogue(t *testing.T, c *secured) (routes func() int) {
	t.Helper()
	cert, err := tls.LoadX509KeyPair(filepath.Join(c.dir, "program", "node.pem"), filepath.Join(c.dir, "program", "node.key"))
	noError(t, err)
	rogue, err := server.NewServer(&server.Options{
		ServerName: "rogue", Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, Routes: c.options(t, 1).Routes,
		Cluster: server.ClusterOpts{
			Name: "handloom", Host: "127.0.0.1", Port: -1, TLSTimeout: 5,
			TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12},
		},
	})
	noError(t, err)
	rogue.Start()
	t.Cleanup(func() { rogue.Shutdown(); rogue.WaitForShutdown() })
	return rogue.NumRoutes
}

// appendFile appends the content of a file.
func appendFile(t *testing.T, to, from string) {
	t.Helper()
	b, err := os.ReadFile(from)
	noError(t, err)
	f, err := os.OpenFile(to, os.O_APPEND|os.O_WRONLY, 0)
	noError(t, errors.Join(err, errorOf(f.Write(b)), f.Close()))
}

func TestRights_AddedServerJoins(t *testing.T) {
	t.Parallel()
	c := startSecured(t)
	c.hosts = append(c.hosts, fmt.Sprint("localhost:", freePort(t)))
	c.write(t, c.dir)
	s := c.startNew(t, 4)
	openLog(t, connect(filepath.Join(c.dir, "program"), s.ClientURL()), 7, cluster.Options{})
}

// startNew starts server i as its file is now, and waits for 3 others, or 2 if it replaces one.
func (s *secured) startNew(t *testing.T, i int) *server.Server {
	t.Helper()
	fresh, err := server.NewServer(s.options(t, i))
	noError(t, err)
	fresh.Start()
	t.Cleanup(func() { fresh.Shutdown(); fresh.WaitForShutdown() })
	others := len(s.hosts) - 1
	for ctx := cluster.Wait(t); !fresh.JetStreamIsCurrent() || fresh.NumRemotes() != others; time.Sleep(10 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("current %t, %d others, want %d", fresh.JetStreamIsCurrent(), fresh.NumRemotes(), others)
		}
	}
	return fresh
}

// The three steps of Renew keys in guide/several-machines.md.
func TestRights_AreRenewedWithoutAStop(t *testing.T) {
	t.Parallel()
	c := startSecured(t)
	l := openLog(t, c.as("program"), 7, cluster.Options{})
	fresh := &secured{dir: filepath.Join(t.TempDir(), "fresh"), hosts: c.hosts, urls: c.urls}
	fresh.write(t, fresh.dir)
	records := uint64(0)
	each := func(change func(old, fresh string)) {
		t.Helper()
		for i := 1; i <= 3; i++ {
			name := fmt.Sprint("server-", i)
			change(filepath.Join(c.dir, name), filepath.Join(fresh.dir, name))
		}
		noError(t, c.Reload())
		records += 3
		fill(t, l, records)
	}
	replace := func(old, fresh string, names ...string) {
		t.Helper()
		for _, name := range names {
			b, err := os.ReadFile(filepath.Join(fresh, name))
			noError(t, err)
			noError(t, os.WriteFile(filepath.Join(old, name), b, 0o600))
		}
	}
	each(func(old, fresh string) { // trust both
		appendFile(t, filepath.Join(old, "nodes-ca.pem"), filepath.Join(fresh, "nodes-ca.pem"))
		appendFile(t, filepath.Join(old, "routes-ca.pem"), filepath.Join(fresh, "routes-ca.pem"))
	})
	appendFile(t, filepath.Join(c.dir, "program", "ca.pem"), filepath.Join(fresh.dir, "program", "ca.pem"))
	both := connect(filepath.Join(c.dir, "program"), c.urls...)
	each(func(old, fresh string) { replace(old, fresh, "server.pem", "server.key", "route.pem", "route.key") })
	openLog(t, both, 7, cluster.Options{}) // an old node that trusts both
	openLog(t, fresh.as("program"), 7, cluster.Options{})
	each(func(old, fresh string) { replace(old, fresh, "nodes-ca.pem", "routes-ca.pem") })
	if enters(t, both) == nil {
		t.Error("the old files still open a log")
	}
	c.Stop(2)
	c.startNew(t, 3)
	wantNumber(t, "Tail", 9)(openLog(t, fresh.as("program"), 7, cluster.Options{}).Tail(t.Context()))
}

func enters(t *testing.T, s cluster.Servers) error {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("no answer"))
	defer cancel()
	l, err := cluster.Open(ctx, s, 7, cluster.Options{})
	if err != nil {
		return err
	}
	mustClose(t, l)
	return nil
}
