package cluster

import (
	"context"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

var (
	joinCells    = flag.Int("join-cells", 9, "number of cells in TestNode_CellsSurviveKills")
	joinKills    = flag.Int("join-kills", 2, "number of its kills")
	joinEvery    = flag.Duration("join-every", 0, "time between two of its kills, at least")
	joinLease    = flag.Duration("join-lease", 2*time.Second, "its lease of nodes")
	joinElection = flag.Duration("join-election", 300*time.Millisecond, "its election timeout")
	joinPause    = flag.Duration("join-pause", 20*time.Millisecond, "its pause between two calls to a cell")
)

// callBank makes calls to a cell and compares each reply with a model, so a call that is lost, counts
// twice or in another order is found.
func (r *bankRun) callBank(ctx context.Context, c *Client, id CellID) {
	random := rand.New(rand.NewPCG(uint64(id), 0))
	balances := [bankAccounts]int{100, 100, 100, 100, 100}
	for ctx.Err() == nil && !r.Failed() {
		o := bankOrder{random.IntN(bankAccounts), random.IntN(bankAccounts), random.IntN(120)}
		want := "not enough money"
		if balances[o.From] >= o.Amount {
			balances[o.From] -= o.Amount
			balances[o.To] += o.Amount
			want = "done"
		}
		body, _ := json.Marshal(o)
		patient, cancel := context.WithTimeout(r.Context(), Patience)
		reply, err := c.Call(patient, id, body)
		cancel()
		if string(reply) != want || err != nil {
			r.Errorf("cell %v: %+v: got %q, %v, want %q", id, o, reply, err, want)
		}
		r.answered.Add(1)
		_ = pause(ctx, *joinPause)
	}
}

// Nodes are killed under calls to all cells, and come back at once or after other nodes have taken
// their place.
func TestNode_CellsSurviveKills(t *testing.T) {
	t.Parallel()
	cells := *joinCells
	if testing.Short() {
		cells = min(cells, 4)
	}
	begin := time.Now()
	r := startBanks(t, 2, cells, *joinLease, *joinElection)
	t.Logf("%d cells open on two of three nodes each after %v", cells, time.Since(begin))
	c, err := Dial(t.Context(), URLs(r.servers.URLs(0)))
	noError(t, err)
	defer c.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var work sync.WaitGroup
	for id := range cells {
		work.Go(func() { r.callBank(ctx, c, CellID(id+1)) })
	}
	var leaderless, incomplete []time.Duration
	for n := range *joinKills {
		_ = pause(ctx, max(500*time.Millisecond, *joinEvery-time.Since(begin)))
		begin = time.Now()
		i := n % len(r.nodes)
		killed, led := r.kill(i)
		if n%2 == 0 {
			r.start(i)
		}
		r.await("after a kill", cells, 2*cells)
		incomplete = append(incomplete, time.Since(killed))
		if n%2 == 1 {
			r.start(i)
			r.await("after the return", cells, 2*cells)
		}
		r.mutex.Lock()
		for _, id := range led {
			leaderless = append(leaderless, r.since[id].Sub(killed))
		}
		r.mutex.Unlock()
	}
	stop()
	work.Wait()
	r.end()
	for name, all := range map[string][]time.Duration{"without a leader": leaderless, "without all copies": incomplete} {
		slices.Sort(all)
		if len(all) > 0 {
			t.Logf("%s: %d times, p50 %v, p99 %v, max %v", name, len(all), all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
		}
	}
	t.Logf("%d calls", r.answered.Load())
}
