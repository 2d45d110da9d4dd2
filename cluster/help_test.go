package cluster_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"handloom/cluster"
	"handloom/cluster/internal/localnet"
	"handloom/journal"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == lockArg {
		os.Exit(openEmbedded(os.Args[2]))
	}
	if len(os.Args) == 8 && os.Args[1] == cluster.BankArg {
		os.Exit(cluster.BankNode(os.Args[2:]))
	}
	// Tests wait for disks and servers, not for processors; -parallel replaces the number.
	_ = flag.Set("test.parallel", "8")
	// A server that closes waits some seconds for the source of a stream.
	source := goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.(*stream).trySetupSourceConsumer.func3")
	// A server that closes while it creates a stream may leave the files of the stream open for ever.
	files := goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.(*fileStore).flushStreamStateLoop")
	clock := goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server/ats.Register.func1") // of open files
	os.Exit(localnet.RunTests(m, func() error { return goleak.Find(source, files, clock) }))
}

var errEnough = errors.New("that is enough")

const patience = cluster.Patience

var startServers = cluster.StartServers

func oneServer(t testing.TB) (*localnet.Cluster, cluster.Servers) {
	t.Helper()
	c := startServers(t, 1, nil)
	return c, cluster.URLs(c.URLs(0))
}

func openLog(t testing.TB, s cluster.Servers, cell cluster.CellID, o cluster.Options) cluster.PatientLog {
	t.Helper()
	return cluster.OpenPatiently(t, s, cell, o)
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func withJournal(t testing.TB, j *journal.Journal) cluster.Options {
	o := alone(t)
	o.Journal = j
	return o
}

func mustClose(t testing.TB, c interface{ Close() error }) {
	t.Helper()
	noError(t, c.Close())
}

// alone returns options for one server.
func alone(t testing.TB) cluster.Options {
	return cluster.Options{Replicas: 1, Snapshots: cluster.Folder(t.TempDir())}
}

// operator returns JetStream for direct access.
func operator(t testing.TB, c *localnet.Cluster) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(c.URL(0))
	noError(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(patience))
	noError(t, err)
	return js
}

func record(n uint64) []byte { return fmt.Append(nil, "record ", n, make([]byte, n%7)) }

func fill(t testing.TB, l cluster.PatientLog, n uint64) {
	t.Helper()
	at, err := l.Tail(t.Context())
	for ; err == nil && at < n; at++ {
		_, err = cluster.AppendTo(t.Context(), l, at, record(at+1))
	}
	noError(t, err)
}

func wantRecords(t testing.TB, l cluster.PatientLog, after, last uint64, rec func(n uint64) []byte) {
	t.Helper()
	noError(t, readRecords(t.Context(), l, after, last, rec))
}

// readRecords fails after patience without a record.
func readRecords(ctx context.Context, l cluster.PatientLog, after, last uint64, rec func(n uint64) []byte) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(patience, func() { cancel(errors.New("no record for " + patience.String())) })
	defer silent.Stop()
	next := after + 1
	err := l.Read(ctx, after, func(at uint64, b []byte) error {
		silent.Reset(patience)
		if at != next || string(b) != string(rec(at)) {
			return fmt.Errorf("record %d of %d bytes is not record %d", at, len(b), next)
		}
		if next++; at == last {
			return errEnough
		}
		return nil
	})
	if err != errEnough {
		return fmt.Errorf("Read after %d, at %d of %d: %w", after, next-1, last, err)
	}
	return nil
}

func errorOf(_ any, err error) error { return err }

func wantError(t testing.TB, err, want error, texts ...string) {
	t.Helper()
	lacks := func(text string) bool { return !strings.Contains(err.Error(), text) }
	if !errors.Is(err, want) || slices.ContainsFunc(texts, lacks) {
		t.Errorf("got error %v, want %v with %q", err, want, texts)
	}
}

func wantText(t testing.TB, what string, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v, want an error with %q", what, err, text)
	}
}

func wantNumber(t testing.TB, what string, want uint64) func(got uint64, err error) {
	return func(got uint64, err error) {
		t.Helper()
		if got != want || err != nil {
			t.Errorf("%s: %d, %v, want %d", what, got, err, want)
		}
	}
}
