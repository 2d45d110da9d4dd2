package cluster_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster"
)

// Servers without room refuse records, so calls wait. With more room the cell continues, and has
// each acknowledged call once.
func TestDisk_FullServersLoseNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("servers that restart elect")
	}
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n, " servers"), func(t *testing.T) {
			t.Parallel()
			c := startServers(t, n, func(_ int, o *server.Options) { o.JetStreamMaxStore = 4 << 20 })
			ctx, stop := context.WithTimeout(t.Context(), patience)
			defer stop()
			node, err := cluster.Join(ctx, cluster.URLs(c.URLs(0)), cluster.Host{Name: "a", Open: openScore, Copies: 1, Replicas: n})
			noError(t, err)
			ended := make(chan error, 1)
			go func() { ended <- node.Run(ctx) }()
			defer func() { stop(); <-ended }()
			noError(t, node.Place(ctx, 7, 1))
			call := func(ctx context.Context) (int, error) {
				reply, err := node.Call(ctx, 7, []byte("1"))
				if err != nil {
					return 0, err
				}
				return strconv.Atoi(string(reply))
			}
			sum, err := call(ctx)
			noError(t, err)

			js := operator(t, c)
			noError(t, errorOf(js.CreateStream(ctx, jetstream.StreamConfig{Name: "FILLER", Subjects: []string{"filler"}, Replicas: n})))
			for err == nil {
				_, err = js.Publish(ctx, "filler", make([]byte, 50_000))
			}
			wantText(t, "a full server", err, "insufficient resources")
			waiting, cancel := context.WithCancel(ctx)
			failed := make(chan error, 1)
			go func() { failed <- errorOf(call(waiting)) }()
			for reason := ""; !strings.Contains(reason, "insufficient resources") && !strings.Contains(reason, "temporarily unavailable"); time.Sleep(time.Millisecond) {
				noError(t, ctx.Err())
				reason = node.Status().Cells[0].World.AppendErr
			}
			cancel()
			wantError(t, <-failed, context.Canceled, "the call may count")

			for i := range n {
				c.Options(i).JetStreamMaxStore = 64 << 20
				c.Stop(i)
				noError(t, c.Restart(i))
			}
			after, err := call(ctx)
			noError(t, err)
			if after != sum+1 && after != sum+2 {
				t.Errorf("got %d, want %d, or %d with the call that failed", after, sum+1, sum+2)
			}
			if next, err := call(ctx); next != after+1 || err != nil {
				t.Errorf("got %d, %v, want %d", next, err, after+1)
			}
		})
	}
}
