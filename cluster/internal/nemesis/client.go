//go:build unix

package nemesis

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"handloom/cluster/internal/audit"
)

// A client makes calls one after another, each with a key of its own, through whichever
// node takes them.
type client struct {
	fleet   *fleet
	auditor *audit.Auditor
	key     uint64
	random  *rand.Rand
	node    int
	conn    net.Conn
	lines   *bufio.Scanner
	addr    string // that conn dialed
}

func newClient(f *fleet, number int, seed uint64) *client {
	return &client{fleet: f, auditor: f.auditor, key: uint64(number+1) << 40, random: rand.New(rand.NewPCG(seed, uint64(number)))}
}

const (
	patience  = 2 * callTime // with a node that does not answer
	refusedBy = 10 * time.Millisecond
)

// run makes calls until ctx ends.
func (c *client) run(ctx context.Context) {
	defer c.hangUp()
	for ctx.Err() == nil {
		c.key++
		c.auditor.Asked(c.key)
		for ctx.Err() == nil && c.call() && c.random.IntN(8) > 0 {
			// It was refused. Another node may take it, or nobody ever.
			c.node = (c.node + 1) % members
			time.Sleep(refusedBy)
			c.auditor.Again(c.key)
		}
	}
}

// call makes a call, and reports whether it was refused. Without an answer nobody knows.
func (c *client) call() (refused bool) {
	if !c.dial() {
		c.auditor.Refused(c.key) // nobody was told
		return true
	}
	var key, tick uint64
	_ = c.conn.SetDeadline(time.Now().Add(patience))
	if _, err := fmt.Fprintln(c.conn, c.key); err != nil || !c.lines.Scan() {
		c.hangUp()
		return false
	}
	answer := c.lines.Text()
	if n, _ := fmt.Sscanf(answer, "ok %d %d", &key, &tick); n == 2 && key == c.key {
		c.auditor.Acked(key, tick)
	} else if n, _ := fmt.Sscanf(answer, "no %d", &key); n == 1 && key == c.key {
		c.auditor.Refused(key)
		return true
	} else if n, _ := fmt.Sscanf(answer, "open %d", &key); n != 1 || key != c.key {
		c.auditor.Fault("a node answers %q to call %d", answer, c.key)
	}
	return false
}

// dial reports whether there is a connection to the node.
func (c *client) dial() bool {
	_, addr, up := c.fleet.nodes[c.node].look()
	if !up {
		c.hangUp()
		return false
	}
	if c.conn != nil && c.addr == addr {
		return true
	}
	c.hangUp()
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return false
	}
	c.conn, c.addr, c.lines = conn, addr, bufio.NewScanner(conn)
	return true
}

func (c *client) hangUp() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}
