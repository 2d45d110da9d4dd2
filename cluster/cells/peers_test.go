package cells_test

import (
	"fmt"
	"testing"

	"handloom/cluster/cells"
	"handloom/store"
)

// A tick of 10 messages costs nearly the same for any number of peers.
func BenchmarkTick_ByPeers(b *testing.B) {
	for _, peers := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("peers=%d", peers), func(b *testing.B) {
			a := newPost(b, cells.Options[int]{})
			for i := range peers {
				a.mustSend(b, cells.ID(i+2), i)
			}
			sent := make([]uint64, peers)
			for i := range sent {
				sent[i] = 1
			}
			next := 0
			for b.Loop() {
				for range 10 {
					to := next % peers
					next += 7
					a.enqueue(b, func(q store.Queue) { a.out.Acked(q, cells.ID(to+2), sent[to]) })
					sent[to]++
				}
				_, err := a.tick(func(q store.Queue) {
					for i := range 10 {
						a.out.Send(q, cells.ID((next-70+7*i)%peers+2), i)
					}
				})
				noError(b, err)
			}
		})
	}
}
