package cluster_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"handloom/cluster"
	"handloom/cluster/internal/servers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what takes a moment on a quiet machine.
const patience = time.Minute

func startServers(t testing.TB, n int) *servers.Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := servers.Start(ctx, t.TempDir(), n, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// openLog opens a log that the end of the test closes.
func openLog(t testing.TB, s cluster.Servers, cell cluster.CellID, o cluster.Options) *cluster.Log {
	t.Helper()
	l, err := cluster.Open(t.Context(), s, cell, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}
