package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"handloom/cluster/internal/localnet"
	"handloom/proof/process"
)

var (
	callKills = flag.Int("call-kills", 10, "number of kills in TestCall_CountsOnceUnderKills")
	callSeed  = flag.Uint64("call-seed", 1, "seed of its orders and kills")
)

// A bankRun is a set of banks on three servers and three nodes.
type bankRun struct {
	*testing.T
	servers  *localnet.Cluster
	words    []string // of a node, after its name
	nodes    [3]*process.Process
	answered atomic.Int64
	longest  atomic.Int64 // duration of a call

	mutex   sync.Mutex
	leaders map[CellID]int
	terms   map[CellID]uint32    // the highest: reports of busy nodes are late
	since   map[CellID]time.Time // of the first leader after a kill
	open    [3]int               // cells per node
}

// startBanks starts nodes with copies of each of some cells.
func startBanks(t *testing.T, copies, cells int, lease, election time.Duration) *bankRun {
	t.Helper()
	servers := StartServers(t, 3, nil)
	r := &bankRun{T: t, servers: servers, leaders: make(map[CellID]int), terms: make(map[CellID]uint32), since: make(map[CellID]time.Time)}
	r.words = []string{fmt.Sprint(copies), lease.String(), election.String(), t.TempDir(), strings.Join(servers.URLs(0), ",")}
	n, err := Join(t.Context(), URLs(servers.URLs(0)), Host{Name: "operator", Copies: copies, Open: openBanks(Options{})})
	noError(t, err)
	for id := range cells {
		place(t, n, CellID(id+1), 1)
	}
	noError(t, n.bucket.Delete(Wait(t), nodePrefix+"operator"))
	noError(t, n.Close())
	for i := range r.nodes {
		r.start(i)
	}
	r.await("leaders and copies", cells, copies*cells)
	return r
}

func (r *bankRun) start(i int) {
	path, err := os.Executable()
	noError(r, err)
	r.nodes[i], err = process.Start(slices.Concat([]string{path, BankArg, fmt.Sprint("node", i)}, r.words), nil, func(line string) { r.receive(i, line) })
	noError(r, err)
	r.Cleanup(r.nodes[i].Kill)
}

func (r *bankRun) receive(i int, line string) {
	var word string
	var n int
	var term uint32
	if _, err := fmt.Sscan(line, &word, &n, &term); err != nil || word == "fail" {
		r.Errorf("node %d: %s", i, line)
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	switch id := CellID(n); {
	case word == "open":
		r.open[i] = n
	case word == "leads" && term < r.terms[id]:
	case word == "leads":
		r.leaders[id], r.terms[id] = i, term
		if r.since[id].IsZero() {
			r.since[id] = time.Now()
		}
	case r.leaders[id] == i:
		delete(r.leaders, id)
	}
}

// kill kills a node, and returns the time and the cells that it led.
func (r *bankRun) kill(i int) (at time.Time, led []CellID) {
	r.nodes[i].Kill()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for id, leader := range r.leaders {
		if leader == i {
			led = append(led, id)
			delete(r.leaders, id)
			delete(r.since, id)
		}
	}
	r.open[i] = 0
	return time.Now(), led
}

// await waits for leaders and copies of cells.
func (r *bankRun) await(what string, leaders, copies int) {
	r.Helper()
	for begin := time.Now(); !r.Failed(); time.Sleep(time.Millisecond) {
		r.mutex.Lock()
		now, open := len(r.leaders), r.open[0]+r.open[1]+r.open[2]
		r.mutex.Unlock()
		if now == leaders && open >= copies {
			return
		}
		if time.Since(begin) > Patience {
			r.Fatalf("%s: got %d leaders and %d copies, want %d and %d", what, now, open, leaders, copies)
		}
	}
}

func (r *bankRun) end() {
	for i, n := range r.nodes {
		if err := n.End(); err != nil {
			r.Errorf("node %d: %v", i, err)
		}
	}
}

// A bankClient loses the first reply to each of its calls, and repeats them now and then.
type bankClient struct {
	*Client
	random *rand.Rand
	calls  []bankCall
}

type bankCall struct {
	key   string
	order bankOrder
	reply string
}

func (c *bankClient) run(ctx context.Context, r *bankRun) {
	for ctx.Err() == nil && !r.Failed() {
		o := bankCall{key: c.newKey(1), order: bankOrder{c.random.IntN(bankAccounts + 1), c.random.IntN(bankAccounts), c.random.IntN(60)}}
		body, _ := json.Marshal(o.order)
		_, _ = c.request(ctx, 1, o.key, body, time.Duration(c.random.IntN(20))*time.Millisecond)
		o.reply = c.answer(r, o)
		c.calls = append(c.calls, o)
		r.answered.Add(1)
		if c.random.IntN(3) == 0 {
			c.repeat(r, c.calls[c.random.IntN(len(c.calls))])
		}
	}
}

func (c *bankClient) answer(r *bankRun, o bankCall) string {
	ctx, cancel := context.WithTimeout(r.Context(), Patience)
	defer cancel()
	body, _ := json.Marshal(o.order)
	began := time.Now()
	reply, _, err := c.call(ctx, 1, o.key, body)
	if took := int64(time.Since(began)); took > r.longest.Load() {
		r.longest.Store(took)
	}
	if err != nil && !r.Failed() {
		r.Error(err)
	}
	return string(reply)
}

func (c *bankClient) repeat(r *bankRun, o bankCall) {
	if reply := c.answer(r, o); reply != o.reply {
		r.Errorf("%+v: the repetition got %q", o, reply)
	}
}

// Clients repeat every call under kills of the nodes. A call counts once if its reply is "done",
// otherwise not, and keeps its reply.
func TestCall_CountsOnceUnderKills(t *testing.T) {
	t.Parallel()
	r := startBanks(t, 3, 1, 10*time.Second, 0)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var clients [4]*bankClient
	var work sync.WaitGroup
	for i := range clients {
		c, err := Dial(ctx, URLs(r.servers.URLs(i)))
		noError(t, err)
		defer c.Close()
		clients[i] = &bankClient{Client: c, random: rand.New(rand.NewPCG(*callSeed, uint64(i+1)))}
		work.Go(func() { clients[i].run(ctx, r) })
	}
	random, kills := rand.New(rand.NewPCG(*callSeed, 0)), *callKills
	if testing.Short() {
		kills = min(kills, 4)
	}
	for range kills {
		r.killSoon(random)
	}
	stop()
	work.Wait()
	r.judge(clients[:])
	for _, c := range clients {
		for _, o := range c.calls[max(0, len(c.calls)-100):] {
			c.repeat(r, o)
		}
	}
	r.judge(clients[:])
	r.end()
	t.Logf("%d kills, %d calls, longest %v", kills, r.answered.Load(), time.Duration(r.longest.Load()))
}

// killSoon kills the leader, or any node in a third of the cases, after some calls, and starts it
// again.
func (r *bankRun) killSoon(random *rand.Rand) {
	after := r.answered.Load() + 5 + random.Int64N(50)
	victim := random.IntN(len(r.nodes))
	whoever := random.IntN(3) == 0
	for r.answered.Load() < after && !r.Failed() {
		time.Sleep(time.Millisecond)
	}
	r.mutex.Lock()
	if leader, ok := r.leaders[1]; ok && !whoever {
		victim = leader
	}
	r.mutex.Unlock()
	r.kill(victim)
	r.start(victim)
}

// judge compares the balances with the replies. A node may answer that does not know yet that another
// one leads.
func (r *bankRun) judge(clients []*bankClient) {
	r.Helper()
	var want, got [bankAccounts]bankAccount
	for i := range want {
		want[i].Balance = bankBalance
	}
	replies := map[string]int{}
	for _, c := range clients {
		for _, o := range c.calls {
			if replies[o.reply]++; o.reply == "done" {
				want[o.order.From].Balance -= o.order.Amount
				want[o.order.To].Balance += o.order.Amount
			}
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), Patience)
	defer cancel()
	for got != want || len(replies) != 3 {
		b, err := clients[0].Call(ctx, 1, nil)
		if err = errors.Join(err, json.Unmarshal(b, &got)); err != nil || ctx.Err() != nil || len(replies) != 3 {
			r.Fatalf("balances: got %v, want %v; replies %v; %v", got, want, replies, err)
		}
	}
}
