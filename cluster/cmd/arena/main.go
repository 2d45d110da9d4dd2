// Command arena plays a game in several cells on three local nodes and three servers, while
// processes are killed and paused. It needs no setup.
package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"handloom/cluster"
	"handloom/cluster/cells"
	"handloom/cluster/internal/localnet"
	"handloom/cluster/internal/nemesis"
	"handloom/internal/cli"
	"handloom/proof/process"
)

//go:embed usage.txt
var usage string

func main() { localnet.Main(usage, runNode, parse, run) }

// runNode is the program of a node. words are its name and the URLs of the servers.
func runNode(ctx context.Context, c *process.Child, words []string) error {
	return nemesis.Host(ctx, c, words[1], cellCount, cluster.Host{Name: words[0], Open: openCell})
}

type options struct {
	kill  bool
	limit time.Duration
}

func parse(args []string) (o options, err error) {
	f := cli.NewFlags()
	f.BoolVar(&o.kill, "kill", false, "")
	f.DurationVar(&o.limit, "for", 24*time.Hour, "")
	words, err := cli.ParseFlags(f, args)
	if err == nil && (len(words) > 0 || o.limit <= 0) {
		err = fmt.Errorf("arguments, -for: got %q, %v, want none, and more than 0", words, o.limit)
	}
	return o, err
}

const playerCount = 24

// A match is one run.
type match struct {
	options
	*nemesis.Fleet
	orders chan string // "kill n0" or "pause s1", from the terminal

	mutex    sync.Mutex // guards the fields below
	answered int
	last     [playerCount]time.Time // time of the last answer
	longest  time.Duration          // wait for an answer since the last fault
}

// run plays until the time is over, and returns the verdict.
func run(ctx context.Context, o options, out io.Writer) cli.Verdict {
	m := &match{options: o, orders: make(chan string)}
	node := func(i int, _, urls string) []string { return []string{fmt.Sprint("n", i), urls} }
	return nemesis.Play(ctx, out, node, func(f *nemesis.Fleet) (string, error) {
		m.Fleet = f
		err := m.play(ctx)
		return fmt.Sprintf("%d players, each with one runner, which carried out each of %d answered orders once", playerCount, m.answered), err
	})
}

func (m *match) play(ctx context.Context) error {
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); m.orders <- in.Text() {
		}
	}()
	if err := m.Start(); err != nil {
		return err
	}
	if err := m.Call(ctx, playerCount, m.player, func(*cluster.Client) error { return m.faults(ctx) }); err != nil {
		return err
	}
	return m.End(func() error { return nil })
}

// player sends the orders of player i, each until it is answered, to the cell of its runner. A
// runner that crosses arrives a moment later.
func (m *match) player(ctx context.Context, c *cluster.Client, i int) {
	o, at := order{uint64(i), 1}, cells.ID(1+i%cellCount)
	body, _ := json.Marshal(o)
	begun := time.Now()
	for tries := 1; ; tries++ {
		var done answer
		reply, _ := c.Call(ctx, at, body) // not answered: again
		_ = json.Unmarshal(reply, &done)
		if ctx.Err() != nil {
			return
		}
		switch {
		case done.At != 0 && done.Done != o.Number:
			m.Fault("player %d: got %d orders carried out, want %d", i, done.Done, o.Number)
			return
		case done.At != 0:
			m.note(func() { m.answered, m.last[i], m.longest = m.answered+1, time.Now(), max(m.longest, time.Since(begun)) })
			time.Sleep(90 * time.Millisecond)
			at, o.Number, begun = done.At, o.Number+1, time.Now()
			body, _ = json.Marshal(o)
		case o.Number > 1 && tries%100 == 0:
			at = at%cellCount + 1 // the answer that named another cell may be lost
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (m *match) note(do func()) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	do()
}

// faults kills and pauses processes, named in the terminal or drawn, until the time is over. It
// shows the cells each second.
func (m *match) faults(ctx context.Context) error {
	err := m.fault(ctx, "")
	over, random := time.After(m.limit), rand.New(rand.NewPCG(1, 1))
	for second := 1; err == nil && !m.Bad(); second++ {
		order := ""
		select {
		case <-ctx.Done():
			return nil
		case <-over:
			return nil
		case order = <-m.orders:
		case <-time.After(time.Second):
			if m.kill && second%3 == 1 {
				order = []string{"kill ", "pause "}[random.IntN(2)] + m.All[random.IntN(len(m.All))].Name
			}
		}
		err = m.fault(ctx, order)
		m.Logf("%s", m.state())
	}
	return err
}

// fault carries out an order, or none, heals all processes, and waits for all cells and players.
func (m *match) fault(ctx context.Context, order string) error {
	what, name, _ := strings.Cut(order, " ")
	if i := slices.IndexFunc(m.All, func(p *localnet.Member) bool { return p.Name == name }); i >= 0 {
		m.note(func() { m.longest = 0 })
		if m.Logf("%s", order); what == "kill" {
			m.Kill(m.All[i])
		} else {
			m.All[i].Pause()
		}
		time.Sleep(time.Second)
	}
	healed := time.Now()
	if err := m.Heal(); err != nil { // reports processes that ended by themselves, too
		return err
	}
	return m.Until(ctx, func() (all bool) {
		waits := func(last time.Time) bool { return last.Before(healed) }
		m.note(func() { all = !slices.ContainsFunc(m.last[:], waits) })
		return all && m.Up() && !strings.Contains(m.state(), "-")
	})
}

// state returns the leader and a follower of each cell, or - where one is missing, and figures.
func (m *match) state() (text string) {
	for id := range cells.ID(cellCount) {
		leader, followers := m.Cell(id + 1)
		if leader == nil || len(followers) == 0 {
			text += "-, "
		} else {
			text += leader.Name + "+" + followers[0].Name + ", "
		}
	}
	m.note(func() {
		text += fmt.Sprintf("%d orders, longest wait %v", m.answered, m.longest.Round(time.Millisecond))
	})
	return text
}
