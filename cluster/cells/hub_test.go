package cells_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"handloom/cluster/cells"
	"handloom/store"
	"handloom/world"
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

// 1,000 cells send 30 packets a second each to one cell.
func BenchmarkTransport_Hub(b *testing.B) {
	const senders = 1000
	by := cells.Local()
	hub := newTown(b, 1, cells.Options[word]{}).from(1)
	hub.hz = 30
	n := start(b, hub, locked{world.Memory()}, by)
	var mutex sync.Mutex
	var waits []time.Duration
	for b.Loop() {
		ctx, cancel := context.WithTimeout(b.Context(), 10*time.Second)
		var all sync.WaitGroup
		for i := range senders {
			all.Go(func() { // one outbox without a world
				from := newOutbox(b, cells.Options[word]{})
				from.self = cells.ID(b.N<<20 + i + 2)
				from.begin(b)
				tick := time.NewTicker(time.Second / 30)
				defer tick.Stop()
				var own []time.Duration
				for number := uint64(0); ctx.Err() == nil; number++ {
					<-tick.C
					from.mustSend(b, 1, word{N: number + 1, Road: cells.Ref[road]{Cell: from.self}, Text: "hello"})
					begin := time.Now()
					packet := from.out.Pack(1, number)
					for {
						cursor, err := by.Request(ctx, 1, packet)
						if err == nil && cursor == number+1 {
							own = append(own, time.Since(begin))
							break
						}
						if ctx.Err() != nil {
							break
						}
					}
					from.enqueue(b, func(q store.Queue) { from.out.Acked(q, 1, number+1) })
				}
				mutex.Lock()
				defer mutex.Unlock()
				waits = append(waits, own...)
			})
		}
		all.Wait()
		cancel()
	}
	slices.Sort(waits)
	b.ReportMetric(float64(len(waits))/b.Elapsed().Seconds(), "messages/s")
	b.ReportMetric(float64(waits[len(waits)*99/100].Milliseconds()), "p99-ms")
	b.ReportMetric(float64(waits[len(waits)/2].Milliseconds()), "p50-ms")
	noError(b, n.kill(b))
}
