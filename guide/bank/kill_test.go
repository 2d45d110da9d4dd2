package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"handloom/proof/process"
)

var (
	kills   = flag.Int("kills", 10, "number of kills")
	seed    = flag.Uint64("seed", 1, "seed of orders and of the moments of kills")
	clients = flag.Int("clients", 8, "number of clients")
)

// A server is a bank in a child process, on one folder and one address.
type server struct {
	t            testing.TB
	folder, addr string
	web          http.Client
	child        *process.Process
}

func newServer(t testing.TB) *server {
	t.Helper()
	b := &server{t: t, folder: filepath.Join(t.TempDir(), "log"), addr: freeAddress(t)}
	b.web.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(b.web.CloseIdleConnections)
	return b
}

// freeAddress returns an address below the ports that systems choose for connections, so that
// each child can listen on it.
func freeAddress(t testing.TB) string {
	t.Helper()
	for {
		addr := fmt.Sprint("127.0.0.1:", 20_000+rand.IntN(10_000))
		if l, err := net.Listen("tcp", addr); err == nil {
			noError(t, l.Close())
			return addr
		}
	}
}

func (b *server) start() {
	b.t.Helper()
	path, err := os.Executable()
	noError(b.t, err)
	b.child, err = process.Start([]string{path, childCommand, b.folder, b.addr}, nil, func(line string) { b.t.Errorf("child: %s", line) })
	noError(b.t, err)
	b.t.Cleanup(b.child.Kill)
}

// request repeats a request until the bank answers it.
func (b *server) request(method, path string) (status int, answer string, err error) {
	for {
		status, answer, err = b.once(method, path)
		unknown := err != nil || status == http.StatusGatewayTimeout || status == http.StatusServiceUnavailable
		if !unknown || b.t.Failed() {
			return status, answer, err
		}
		time.Sleep(time.Millisecond) // the bank is dead or begins
	}
}

func (b *server) once(method, path string) (status int, answer string, err error) {
	r, err := http.NewRequestWithContext(context.Background(), method, "http://"+b.addr+path, nil)
	if err != nil {
		return 0, "", err
	}
	got, err := b.web.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	return got.StatusCode, strings.TrimSpace(string(text)), err
}

// A payment is a transfer that was answered.
type payment struct {
	path, answer     string
	from, to, amount int
}

const accounts = 5

// A client repeats each transfer until it is answered, and some after that.
type client struct {
	*server
	name     int
	random   *rand.Rand
	answered *atomic.Int64
	paid     []payment
}

func (c *client) run(ctx context.Context) {
	for ctx.Err() == nil && !c.t.Failed() {
		p := payment{from: c.random.IntN(accounts + 1), to: c.random.IntN(accounts), amount: c.random.IntN(60)}
		p.path = fmt.Sprintf("/transfer/%d.%d?from=%d&to=%d&amount=%d", c.name, len(c.paid), p.from, p.to, p.amount)
		p.answer = c.answer(p.path)
		c.paid = append(c.paid, p)
		c.answered.Add(1)
		if earlier := c.paid[c.random.IntN(len(c.paid))]; c.random.IntN(3) == 0 {
			c.repeat(earlier)
		}
	}
}

func (c *client) answer(path string) string {
	status, answer, err := c.request("PUT", path)
	if status != http.StatusOK || err != nil {
		c.t.Errorf("%s: got %d %q, %v", path, status, answer, err)
	}
	return answer
}

func (c *client) repeat(p payment) {
	if answer := c.answer(p.path); answer != p.answer {
		c.t.Errorf("%s: the answer was %q, and is %q", p.path, p.answer, answer)
	}
}

// TestBank_SurvivesKills kills the bank under clients that repeat every request until it is
// answered. An order must count once if its answer is "done", otherwise not, and keep its
// answer.
func TestBank_SurvivesKills(t *testing.T) {
	b, random, answered := newServer(t), rand.New(rand.NewPCG(*seed, 0)), new(atomic.Int64)
	b.start()
	for n := range accounts {
		b.request("PUT", fmt.Sprint("/account/", n))
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	all, work := make([]*client, *clients), new(sync.WaitGroup)
	for i := range all {
		all[i] = &client{server: b, name: i, random: rand.New(rand.NewPCG(*seed, uint64(i+1))), answered: answered}
		work.Go(func() { all[i].run(ctx) })
	}
	begun := time.Now()
	for range *kills {
		b.kill(random, answered)
	}
	stop()
	work.Wait()
	t.Logf("%d kills, %d transfers answered, in %v", *kills, answered.Load(), time.Since(begun).Round(time.Second))
	for _, name := range []string{"after the kills", "after an orderly end"} {
		b.judge(name, all)
		noError(t, b.child.End())
		b.start()
	}
	for _, c := range all {
		for _, p := range c.paid[max(0, len(c.paid)-200):] {
			c.repeat(p)
		}
	}
	b.judge("after repetitions", all)
	noError(t, b.child.End())
}

// kill kills the bank, a third of the times while it opens or soon after, and starts it again.
func (b *server) kill(random *rand.Rand, answered *atomic.Int64) {
	b.t.Helper()
	until := answered.Load() + int64(random.IntN(40))
	moment := time.Duration(random.IntN(4000)) * time.Microsecond
	if random.IntN(3) == 0 {
		until, moment = 0, 5*moment
	}
	for answered.Load() < until && !b.t.Failed() {
		time.Sleep(100 * time.Microsecond)
	}
	time.Sleep(moment)
	b.child.Kill()
	if code := b.child.State().ExitCode(); code >= 0 {
		b.t.Fatalf("the bank ended with exit code %d before it was killed: %s", code, b.child.Errors())
	}
	b.start()
}

// judge compares balances with the answers.
func (b *server) judge(when string, all []*client) {
	b.t.Helper()
	var want [accounts]int
	for i := range want {
		want[i] = 100
	}
	answers := map[string]int{}
	for _, c := range all {
		for _, p := range c.paid {
			if answers[p.answer]++; p.answer == "done" {
				want[p.from] -= p.amount
				want[p.to] += p.amount
			}
		}
	}
	for n, want := range want {
		if _, answer, _ := b.request("GET", fmt.Sprint("/account/", n)); answer != fmt.Sprint(want) || want < 0 {
			b.t.Errorf("%s: account %d has %s, want %d", when, n, answer, want)
		}
	}
	if len(answers) != 3 {
		b.t.Errorf("%s: got answers %v, want 3 kinds", when, answers)
	}
}
