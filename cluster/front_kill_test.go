package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
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

// A bankRun is a bank on three nodes.
type bankRun struct {
	*testing.T
	words    []string // of a node
	nodes    [3]*process.Process
	leads    [3]atomic.Bool
	answered atomic.Int64
	longest  atomic.Int64 // duration of a call
}

func (r *bankRun) start(i int) {
	path, err := os.Executable()
	noError(r, err)
	r.nodes[i], err = process.Start(append([]string{path, BankArg}, r.words...), nil, func(line string) {
		switch line {
		case "leads true", "leads false":
			r.leads[i].Store(strings.HasSuffix(line, "true"))
		default:
			r.Errorf("node %d: %s", i, line)
		}
	})
	noError(r, err)
	r.Cleanup(r.nodes[i].Kill)
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
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
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
	servers, err := localnet.Start(t.Context(), t.TempDir(), 3, nil)
	noError(t, err)
	defer func() { noError(t, servers.Close()) }()
	r := &bankRun{T: t, words: []string{strings.Join(servers.URLs(0), ","), t.TempDir()}}
	for i := range r.nodes {
		r.start(i)
	}
	for !slices.ContainsFunc([]int{0, 1, 2}, func(i int) bool { return r.leads[i].Load() }) && !t.Failed() {
		time.Sleep(time.Millisecond)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var clients [4]*bankClient
	var work sync.WaitGroup
	for i := range clients {
		c, err := Dial(ctx, URLs(servers.URLs(i)))
		noError(t, err)
		defer c.Close()
		clients[i] = &bankClient{Client: c, random: rand.New(rand.NewPCG(*callSeed, uint64(i+1)))}
		work.Go(func() { clients[i].run(ctx, r) })
	}
	random := rand.New(rand.NewPCG(*callSeed, 0))
	for range *callKills {
		r.kill(random)
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
	for i, n := range r.nodes {
		if err := n.End(); err != nil {
			t.Errorf("node %d: %v", i, err)
		}
	}
	t.Logf("%d kills, %d calls, longest %v", *callKills, r.answered.Load(), time.Duration(r.longest.Load()))
}

// kill kills the leader, or any node in a third of the cases, after some calls, and starts it again.
func (r *bankRun) kill(random *rand.Rand) {
	after := r.answered.Load() + 5 + random.Int64N(50)
	victim := random.IntN(len(r.nodes))
	whoever := random.IntN(3) == 0
	for r.answered.Load() < after && !r.Failed() {
		time.Sleep(time.Millisecond)
	}
	for i := range r.leads {
		if r.leads[i].Load() && !whoever {
			victim = i
		}
	}
	r.nodes[victim].Kill()
	r.leads[victim].Store(false)
	r.start(victim)
}

// judge compares the balances with the replies.
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
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	b, err := clients[0].Call(ctx, 1, nil)
	if err = errors.Join(err, json.Unmarshal(b, &got)); err != nil || got != want || len(replies) != 3 {
		r.Errorf("balances: got %v, want %v; replies %v; %v", got, want, replies, err)
	}
}
