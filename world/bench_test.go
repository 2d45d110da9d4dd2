package world_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// A body is an item of 128 bytes.
type body struct {
	Pos, Vel [3]float64
	Hull     int64
	_        [9]int64
}

// A crowd is a program of many items of which a few change in a tick, and of orders from
// outside.
type crowd struct {
	*store.Store
	bodies *store.Table[body]
	orders *store.Table[push]
	all    []store.Handle[body]
}

type push struct {
	On store.Handle[body]
	By [3]float64
}

func newCrowd(b *testing.B, items int) *crowd {
	b.Helper()
	s, err := store.New(store.Options{})
	noError(b, err)
	c := &crowd{Store: s}
	if c.bodies, err = store.Register(s, store.TableOptions[body]{Name: "body", Shards: 8}); err != nil {
		b.Fatal(err)
	}
	if c.orders, err = store.Register(s, store.TableOptions[push]{Name: "order"}); err != nil {
		b.Fatal(err)
	}
	err = s.Write(b.Context(), func(_ context.Context, w *store.Writer) error {
		for range items {
			h, err := c.bodies.Insert(w, body{Hull: 10})
			if err != nil {
				return err
			}
			c.all = append(c.all, h)
		}
		return nil
	})
	noError(b, err)
	return c
}

func (c *crowd) tick(ctx context.Context, w *store.Writer, t world.Tick) error {
	if _, err := c.Flush(ctx); err != nil {
		return err
	}
	for _, o := range c.orders.All() {
		if v, ok := c.bodies.Get(o.On); ok {
			for k := range v.Vel {
				v.Vel[k] += o.By[k]
			}
		}
	}
	c.orders.Clear(w)
	part := int(t.Number % 50)
	return c.bodies.ForEach(ctx, func(_ context.Context, chunk store.Chunk[body]) error {
		for i := part; i < len(chunk.Items); i += 50 {
			v := &chunk.Items[i]
			for k := range v.Pos {
				v.Pos[k] += v.Vel[k] + 1
			}
		}
		return nil
	})
}

// push records n orders.
func (c *crowd) push(n, from int) func(q store.Queue) error {
	return func(q store.Queue) error {
		for i := range n {
			c.orders.Emplace(q, push{On: c.all[(from+i*97)%len(c.all)], By: [3]float64{1, 2, 3}})
		}
		return nil
	}
}

const (
	crowdItems  = 100_000
	crowdOrders = 1000
)

// A tick of 100,000 items of 128 bytes, of which 2 % change, with 1,000 orders from
// outside: without a world, and with each log. What a journal costs is one fdatasync
// and the bytes of the orders.
func BenchmarkTick(b *testing.B) {
	b.Run("op=tick/log=none", func(b *testing.B) {
		c := newCrowd(b, crowdItems)
		for n := uint64(0); b.Loop(); n++ {
			noError(b, c.Inbox(c.push(crowdOrders, int(n))))
			err := c.Write(b.Context(), func(ctx context.Context, w *store.Writer) error {
				return c.tick(ctx, w, world.Tick{Number: n})
			})
			noError(b, err)
		}
	})
	for _, snapshots := range []int{1 << 30, 600} {
		b.Run(fmt.Sprintf("op=tick/log=memory/snapshots=%t", snapshots == 600), func(b *testing.B) {
			benchmarkTicks(b, newCrowd(b, crowdItems), world.Memory(), snapshots)
		})
		b.Run(fmt.Sprintf("op=tick/log=journal/snapshots=%t", snapshots == 600), func(b *testing.B) {
			j, err := journal.Open(filepath.Join(b.TempDir(), "log"), journal.Options{})
			noError(b, err)
			defer mustCloseJournal(b, j)
			benchmarkTicks(b, newCrowd(b, crowdItems), j, snapshots)
		})
	}
}

// benchmarkTicks measures ticks with a call of orders in each.
func benchmarkTicks(b *testing.B, c *crowd, l world.Log, snapshots int) {
	w, err := world.Open(b.Context(), c.Store, l, world.Options{Tick: c.tick, SnapshotTicks: snapshots})
	noError(b, err)
	answers := make(chan error, 1)
	for n := 0; b.Loop(); n++ {
		recorded := make(chan struct{})
		go func() {
			_, err := w.Submit(b.Context(), func(q store.Queue) error {
				defer close(recorded)
				return c.push(crowdOrders, n)(q)
			})
			answers <- err
		}()
		<-recorded
		for answered := false; !answered; { // the call arrives a moment later
			mustStep(b, w)
			select {
			case err := <-answers:
				if answered = true; err != nil {
					b.Fatal(err)
				}
			default:
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(w.Status().Tick), "us/tick")
	status := w.Status()
	b.ReportMetric(float64(status.AppendP50)/1e3, "append-p50-us")
	b.ReportMetric(float64(status.AppendP99)/1e3, "append-p99-us")
	b.ReportMetric(float64(status.AppendMax)/1e3, "append-max-us")
	crash(b, w)
}
