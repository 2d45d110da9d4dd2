package cluster_test

import (
	"context"
	"encoding/binary"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster"
	"handloom/cluster/cells"
	"handloom/internal/digest"
	"handloom/internal/wire"
)

// mailPacket returns a packet of messages that were sent at times, in the format of package cells.
func mailPacket(from, to cells.ID, first uint64, times []time.Time) []byte {
	b := append([]byte("HLP"), 1)
	for _, n := range []uint64{uint64(from), uint64(to), first} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(times)))
	b = wire.AppendText(b, digest.Of(reflect.TypeFor[mail]()).Schema())
	for i, sent := range times {
		b = binary.LittleEndian.AppendUint64(b, first+uint64(i))
		b = binary.LittleEndian.AppendUint64(b, uint64(sent.UnixNano()))
	}
	return b
}

// 1,000 cells send 30 messages a second each to one cell. Each has one packet in flight.
func BenchmarkMailbox_Hub(b *testing.B) {
	const senders, hub = 1000, cells.ID(1)
	for _, servers := range []int{1, 3} {
		b.Run(map[int]string{1: "one server", 3: "three servers"}[servers], func(b *testing.B) {
			c := startServers(b, servers, nil)
			o := alone(b)
			o.Replicas = servers
			to := startWriter(b, cluster.URLs(c.URLs(0)), o, 1, hub)
			js := operator(b, c)
			for err := error(cells.ErrUnreachable); err != nil; { // until the hub receives
				ctx, cancel := context.WithTimeout(b.Context(), time.Second)
				_, err = js.Stream(ctx, cluster.MailStream(hub))
				cancel()
			}
			sent := 0
			var mutex sync.Mutex
			for b.Loop() {
				ctx, cancel := context.WithTimeout(b.Context(), 10*time.Second)
				var all sync.WaitGroup
				for i := range senders {
					all.Go(func() {
						from := cells.ID(b.N<<20 + i + 2)
						subject := "handloom.mail." + hub.String() + "." + from.String() + ".message"
						tick := time.NewTicker(time.Second / 30)
						defer tick.Stop()
						number, last := uint64(1), time.Now()
						for ; ctx.Err() == nil; <-tick.C {
							var times []time.Time
							for ; time.Since(last) > time.Second/30; last = last.Add(time.Second / 30) {
								times = append(times, last)
							}
							packet := mailPacket(from, hub, number, times)
							for len(times) > 0 && ctx.Err() == nil {
								if _, err := js.Publish(ctx, subject, packet, jetstream.WithExpectStream(cluster.MailStream(hub))); err == nil {
									number += uint64(len(times))
									break
								}
							}
						}
						mutex.Lock()
						defer mutex.Unlock()
						sent += int(number) - 1
					})
				}
				all.Wait()
				cancel()
			}
			received := func() int {
				to.mutex.Lock()
				defer to.mutex.Unlock()
				return len(to.waits)
			}
			for received() < sent { // packets of unknown outcome may add some
				time.Sleep(10 * time.Millisecond)
			}
			to.mutex.Lock()
			waits := slices.Clone(to.waits)
			to.mutex.Unlock()
			slices.Sort(waits)
			b.ReportMetric(float64(sent)/b.Elapsed().Seconds(), "messages/s")
			b.ReportMetric(float64(waits[len(waits)*99/100].Milliseconds()), "p99-ms")
			b.ReportMetric(float64(waits[len(waits)/2].Milliseconds()), "p50-ms")
			b.ReportMetric(float64(waits[len(waits)-1].Milliseconds()), "max-ms")
			to.kill(b)
		})
	}
}
