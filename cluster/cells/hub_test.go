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

// A timed transport measures the time of packets from Send to the end of deliver.
type timed struct {
	cells.Transport
	mutex sync.Mutex
	sent  map[mailKey]time.Time
	waits []time.Duration
}

type mailKey struct {
	from cells.ID
	last uint64
}

func (t *timed) Send(ctx context.Context, from, to cells.ID, outbox string, packet []byte) error {
	t.mutex.Lock()
	t.sent[mailKey{from, cells.Last(packet)}] = time.Now()
	t.mutex.Unlock()
	return t.Transport.Send(ctx, from, to, outbox, packet)
}

func (t *timed) Receive(ctx context.Context, cell cells.ID, outbox string, deliver func(ctx context.Context, from cells.ID, packets [][]byte) error) error {
	return t.Transport.Receive(ctx, cell, outbox, func(ctx context.Context, from cells.ID, packets [][]byte) error {
		err := deliver(ctx, from, packets)
		if err == nil {
			t.mutex.Lock()
			defer t.mutex.Unlock()
			for _, p := range packets {
				key := mailKey{from, cells.Last(p)}
				t.waits = append(t.waits, time.Since(t.sent[key]))
				delete(t.sent, key)
			}
		}
		return err
	})
}

// 1,000 cells send 30 packets a second each to one cell.
func BenchmarkTransport_Hub(b *testing.B) {
	const senders = 1000
	by := &timed{Transport: cells.Local(), sent: map[mailKey]time.Time{}}
	hub := newTown(b, 1, cells.Options[word]{}).from(1)
	hub.hz = 30
	n := start(b, hub, locked{world.Memory()}, by)
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
				for number := uint64(0); ctx.Err() == nil; number++ {
					<-tick.C
					from.mustSend(b, 1, word{N: number + 1, Road: cells.Ref[road]{Cell: from.self}, Text: "hello"})
					packet := from.out.Pack(1, number)
					for by.Send(ctx, from.self, 1, "message", packet) != nil { // until the hub receives
						<-tick.C
					}
					from.enqueue(b, func(q store.Queue) { from.out.Acked(q, 1, number+1) })
				}
			})
		}
		all.Wait()
		cancel()
	}
	until(b, "all messages", func() bool {
		by.mutex.Lock()
		defer by.mutex.Unlock()
		return len(by.sent) == 0
	})
	slices.Sort(by.waits)
	b.ReportMetric(float64(len(by.waits))/b.Elapsed().Seconds(), "messages/s")
	b.ReportMetric(float64(by.waits[len(by.waits)*99/100].Milliseconds()), "p99-ms")
	b.ReportMetric(float64(by.waits[len(by.waits)/2].Milliseconds()), "p50-ms")
	noError(b, n.kill(b))
}
