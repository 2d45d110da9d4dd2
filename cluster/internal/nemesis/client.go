package nemesis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// A Client makes calls, one after another, on any node, and reports them to the auditor.
type Client struct {
	Number int // from 0
	Random *rand.Rand

	fleet *fleet
	node  int
}

const (
	patience  = 2 * callTime // time limit of an answer
	refusedBy = 10 * time.Millisecond
)

func (f *fleet) client(number int) *Client {
	return &Client{Number: number, Random: rand.New(rand.NewPCG(f.Seed, uint64(number))), fleet: f}
}

// LeaveNotes makes calls of [Notes] until ctx ends, each with its own key.
func LeaveNotes(ctx context.Context, c *Client) {
	for key := uint64(c.Number+1)<<40 + 1; ctx.Err() == nil; key++ {
		for again := false; ctx.Err() == nil; again = true {
			if _, refused := c.Call(key, "", again); !refused || c.Random.IntN(8) == 0 {
				break
			}
		}
	}
}

// Call makes a call and reports whether it was carried out or refused; after a refusal the next
// call uses another node. If both are false, the outcome is unknown.
func (c *Client) Call(key uint64, text string, again bool) (carriedOut, refused bool) {
	auditor := c.fleet.auditor
	if again {
		auditor.Again(key)
	} else {
		auditor.Asked(key)
	}
	answer, sent := c.fleet.nodes[c.node].request(fmt.Sprint(key, " ", text))
	if !sent { // the call has reached no node
		c.refused(key)
		return false, true
	}
	var what string
	var answered, tick uint64
	_, _ = fmt.Sscan(answer, &what, &answered, &tick)
	switch {
	case what == "ok" && answered == key && tick > 0:
		auditor.Acked(key, tick)
		return true, false
	case what == "no" && answered == key:
		c.refused(key)
		return false, true
	case answer != "" && (what != "open" || answered != key):
		auditor.Fault("a node answers %q to call %d", answer, key)
	}
	return false, false
}

func (c *Client) refused(key uint64) {
	c.fleet.auditor.Refused(key)
	c.node = (c.node + 1) % Members
	time.Sleep(refusedBy)
}

var errNoView = errors.New("no node has a view")

// view decodes the view of a node, preferably the owner.
func (f *fleet) view(into any) error {
	first := max(0, slices.Index(f.nodes, f.owner()))
	for i := range Members {
		answer, _ := f.nodes[(first+i)%Members].request(viewLine)
		if answer != "" && answer != "null" {
			return json.Unmarshal([]byte(answer), into)
		}
	}
	return errNoView
}
