package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster"
	"handloom/cluster/cells"
	"handloom/cluster/internal/localnet"
	"handloom/cluster/internal/rights"
)

// A secured cluster runs with files of cluster/cmd/config.
type secured struct {
	*localnet.Cluster
	dir  string
	urls []string
}

// startSecured starts three servers. weaken may change their files, or is nil.
func startSecured(t *testing.T, weaken func(dir string), ids ...cells.ID) *secured {
	t.Helper()
	s := &secured{dir: filepath.Join(t.TempDir(), "config")}
	var hosts []string
	for range 3 {
		hosts = append(hosts, fmt.Sprint("localhost:", freePort(t)))
		s.urls = append(s.urls, "nats://"+hosts[len(hosts)-1])
	}
	noError(t, rights.Create(rights.Options{Servers: hosts, Cells: ids, Dir: s.dir}))
	if weaken != nil {
		weaken(s.dir)
	}
	s.Cluster = startServers(t, 3, func(i int, o *server.Options) {
		conf, err := server.ProcessConfigFile(filepath.Join(s.dir, fmt.Sprint("server-", i+1), "server.conf"))
		if err != nil {
			t.Error(err)
			return
		}
		conf.NoLog, conf.NoSigs = true, true
		*o = *conf
	})
	return s
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := localnet.FreePort()
	noError(t, err)
	return port
}

// program selects the account of a program with many cells, in place of the account of a cell.
const program = cells.ID(0)

// folder returns the files of a cell or the program.
func (s *secured) folder(cell cells.ID) string {
	if cell == program {
		return filepath.Join(s.dir, "program")
	}
	return filepath.Join(s.dir, "cells", cell.String())
}

// options returns the credentials of a cell or the program.
func (s *secured) options(t *testing.T, cell cells.ID) []nats.Option {
	t.Helper()
	dir := s.folder(cell)
	key, err := nats.NkeyOptionFromSeed(filepath.Join(dir, "node.nkey"))
	noError(t, err)
	return []nats.Option{key, nats.RootCAs(filepath.Join(dir, "ca.pem")), nats.ClientCert(filepath.Join(dir, "node.pem"), filepath.Join(dir, "node.key"))}
}

func (s *secured) as(t *testing.T, cell cells.ID) cluster.Servers {
	t.Helper()
	servers, err := connect(s.folder(cell), s.urls...)
	noError(t, err)
	return servers
}

func TestRights_SufficeForTheCell(t *testing.T) {
	t.Parallel()
	c := startSecured(t, nil, 7, 8)
	o := cluster.Options{Journal: openJournal(t, t.TempDir())}
	l := openLog(t, c.as(t, 7), 7, o)
	fill(t, l, 5)
	wantRecords(t, l, 0, 5, record)
	for _, at := range []uint64{3, 4, 5} {
		saveText(t, l, at)
	}
	r, err := l.Load(t.Context(), 5)
	noError(t, err)
	if b, err := io.ReadAll(r); err != nil || string(b) != "state 5" {
		t.Errorf("%q, %v", b, err)
	}
	mustClose(t, r)
	noError(t, l.Trim(t.Context(), 4))
	for ctx := cluster.Wait(t); errorOf(l.StepDown(ctx)) != nil; { // while a server lags
		noError(t, ctx.Err())
	}
	wantNumber(t, "a message to the cell", 3)(mailToOneself(t, l, 7))
	for name, err := range map[string]error{
		"cell 7 in cell 8": enters(t, c.as(t, 7), 8),
		"no key":           enters(t, cluster.URLs(c.urls, c.options(t, 7)[1:]...), 7),
		"no certificate":   enters(t, cluster.URLs(c.urls, c.options(t, 7)[:2]...), 7),
	} {
		if err == nil {
			t.Errorf("%s: Open succeeds", name)
		}
	}
	mustClose(t, l)

	// Its own nodes may do everything that Reseed needs.
	js := c.js(t, 7)
	noError(t, js.DeleteStream(t.Context(), cells.ID(7).Stream()))
	noError(t, cluster.TryReseed(t, c.as(t, 7), 7, o, nil))
	wantNumber(t, "Tail after Reseed", 5)(openLog(t, c.as(t, 7), 7, o).Tail(t.Context()))
}

// Nodes place and play cells, with the bucket, logs, snapshots, calls and messages of each.
func TestRights_SufficeForTheProgram(t *testing.T) {
	t.Parallel()
	c := startSecured(t, nil, 7)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	n, err := cluster.Join(ctx, c.as(t, program), cluster.Host{Name: "a", Open: openScore})
	noError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	client, err := cluster.Dial(ctx, c.as(t, program))
	noError(t, err)
	for _, cell := range []cluster.CellID{7, 8} { // 7 also is the cell of another account
		noError(t, n.Place(ctx, cell, 1))
		for _, want := range []string{"21", "42"} {
			if reply, err := client.Call(ctx, cell, []byte("21")); string(reply) != want || err != nil {
				t.Errorf("cell %v: got %q, %v, want %q", cell, reply, err, want)
			}
		}
	}
	l := openLog(t, c.as(t, program), 9, cluster.Options{})
	saveText(t, l, 0)
	wantNumber(t, "a message to a cell", 3)(mailToOneself(t, l, 9))
	mustClose(t, l)
	noError(t, client.Close())
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}

	// The account of cell 7 does not have this log.
	_, err = c.js(t, 7).Stream(t.Context(), cells.ID(7).Stream())
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("log of the account of cell 7: got %v, want %v", err, jetstream.ErrStreamNotFound)
	}
}

func TestRights_AddedServerJoins(t *testing.T) {
	t.Parallel()
	c := startSecured(t, nil, 7)
	noError(t, rights.Add(rights.Options{Dir: c.dir, Servers: []string{fmt.Sprint("localhost:", freePort(t))}}))
	conf, err := server.ProcessConfigFile(filepath.Join(c.dir, "server-4", "server.conf"))
	noError(t, err)
	conf.NoLog, conf.NoSigs = true, true
	s, err := server.NewServer(conf)
	noError(t, err)
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	for ctx := cluster.Wait(t); !s.JetStreamIsCurrent() || s.NumRemotes() != 3; time.Sleep(10 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("current %t, %d others, want 3", s.JetStreamIsCurrent(), s.NumRemotes())
		}
	}
	openLog(t, cluster.URLs([]string{s.ClientURL()}, c.options(t, 7)...), 7, cluster.Options{})
}

// mailToOneself returns the bytes of a packet that a cell sends to itself.
func mailToOneself(t *testing.T, l cluster.PatientLog, cell cluster.CellID) (received uint64, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ended, got := make(chan error, 1), make(chan uint64, 100) // a packet may be repeated
	go func() {
		ended <- receive(ctx, l, cell, "mail", func(_ context.Context, from cluster.CellID, packets [][]byte) error {
			if from == cell {
				got <- uint64(len(packets[0]))
			}
			return nil
		})
	}()
	err = sendTo(ctx, l, cell, cell, "mail", []byte("abc"))
	select {
	case received = <-got:
	case err := <-ended:
		return 0, err
	}
	cancel()
	<-ended
	return received, err
}

func enters(t *testing.T, s cluster.Servers, cell cluster.CellID) error {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("no answer"))
	defer cancel()
	l, err := cluster.Open(ctx, s, cell, cluster.Options{})
	if err != nil {
		return err
	}
	mustClose(t, l)
	return nil
}
