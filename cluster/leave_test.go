package cluster_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"handloom/cluster"
	"handloom/cluster/internal/localnet"
)

// The server is connected but unreachable, and pings are rare.
func TestLog_LeavesSilentServer(t *testing.T) {
	t.Parallel()
	c := startServers(t, 3, nil)
	n := localnet.NewNet()
	t.Cleanup(n.Close)
	var urls []string
	for i := range c.Len() {
		l, err := n.Link("node", "server")
		if i > 0 {
			l, err = n.Link("node", "others")
		}
		noError(t, err)
		l.Serve(strings.TrimPrefix(c.URL(i), "nats://"))
		urls = append(urls, "nats://"+l.Addr())
	}
	o := cluster.Options{Snapshots: cluster.Folder(t.TempDir())}
	l := openLog(t, cluster.URLs(urls, nats.DontRandomize(), nats.PingInterval(time.Hour)), 1, o)
	fill(t, l, 5)
	if n.Passed("node", "server") == 0 || n.Passed("node", "others") > 0 {
		t.Fatal("the log is on another server than the first")
	}
	n.Cut("server", "node")
	for at, err := uint64(5), error(nil); at < 10; {
		var next uint64
		if next, err = l.Append(t.Context(), at, record(at+1)); err == nil {
			at = next
		} else if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
	wantRecords(t, l, 0, 10, record)
}
