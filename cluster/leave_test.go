package cluster_test

import (
	"fmt"
	"slices"
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
		l, err := n.Link("node", fmt.Sprint("server", i))
		noError(t, err)
		l.Serve(strings.TrimPrefix(c.URL(i), "nats://"))
		urls = append(urls, "nats://"+l.Addr())
	}
	o := cluster.Options{Snapshots: cluster.Folder(t.TempDir())}
	l := openLog(t, cluster.URLs(urls, nats.PingInterval(time.Hour)), 1, o)
	fill(t, l, 5)
	n.Cut(fmt.Sprint("server", slices.Index(urls, l.ConnectedURL())), "node")
	insist(t, l, 10)
	wantRecords(t, l, 0, 10, record)
}
