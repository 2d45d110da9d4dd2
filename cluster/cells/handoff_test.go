package cells_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

// A cell goes from node to node and back, while another one sends it words, and clients
// give it orders. They repeat an order, at whichever node, until they know that it was
// obeyed. Each is obeyed once, and each word heard once.
func TestACellMovesBetweenNodesWhileClientsGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTwo(t)
		shared := world.Memory()
		nodes := [2]*node{}
		for i := range nodes {
			nodes[i] = start(t, b.towns[1](), shared, b.by)
		}
		b.send()
		ctx, finish := context.WithCancel(context.Background())
		obeyed := make(chan int)
		for client := range clients {
			go func() { obeyed <- giveOrders(ctx, nodes, client) }()
		}
		const moves = 6
		for range moves {
			time.Sleep(500 * time.Millisecond)
			for _, n := range nodes {
				if n.world.Status().Owner {
					if err := n.world.Handoff(context.Background(), "town"); err != nil {
						t.Error(err)
					}
					break
				}
			}
		}
		b.hearer = nodes[0]
		until(t, "all words", b.allHeard)
		finish()
		var sum int
		for range clients {
			sum += <-obeyed
		}
		until(t, "both nodes have all", func() bool { return nodes[0].world.Status().At == nodes[1].world.Status().At })
		for i, n := range nodes {
			if terms := n.world.Status().Term; terms < moves+1 {
				t.Errorf("%d terms, and the cell moved %d times", terms, moves)
			}
			got := 0
			n.look(t, func() {
				for _, c := range n.clients.All() {
					got += c.Obeyed
				}
				if h := n.of(b.ids[0]); h.Wrong != 0 || h.Next != words+1 {
					t.Errorf("node %d: %+v", i, *h)
				}
			})
			if got < sum || got > sum+clients || sum < 100 {
				t.Errorf("node %d: %d orders were obeyed, and clients know of %d", i, got, sum)
			}
		}
		_ = b.sender.kill(t)
		for _, n := range nodes {
			_ = n.kill(t)
		}
	})
}

// giveOrders gives one order after another, until ctx ends, and returns how many were obeyed.
// The last one may have been obeyed as well.
func giveOrders(ctx context.Context, nodes [2]*node, client int) int {
	key := 1
	for try := 0; ctx.Err() == nil; try++ {
		n := nodes[try/2%len(nodes)]
		one, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		_, err := n.world.Submit(one, func(q store.Queue) error {
			n.orders.Emplace(q, order{client, key})
			return nil
		})
		cancel()
		if err == nil {
			key++
			continue
		}
		time.Sleep(5 * time.Millisecond)
	}
	return key - 1
}
