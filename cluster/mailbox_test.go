package cluster_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"handloom/cluster"
	"handloom/cluster/cells"
	"handloom/store"
	"handloom/world"
)

var absence = flag.Duration("absence", 2*time.Second, "absence of the cell in TestMailbox_KeepsMailOfAbsentCell")

// A writer sends mails to other cells, and counts unexpected mails.
type writer struct {
	*store.Store
	out   *cells.Outbox[mail]
	flows *store.Table[flow]
	mailer

	mutex sync.Mutex
	waits []time.Duration // of mails that this node received, by the times of ticks
}

type mail struct {
	Number uint64
	Time   int64
}

// A flow is the traffic with another cell.
type flow struct {
	With     cells.ID
	PerTick  int
	Last     uint64 // number of mails to send; 0: any
	Sent     uint64
	Received uint64
	Wrong    int
}

const mailHz = 50

func startWriter(t testing.TB, s cluster.Servers, o cluster.Options, workers int, self cells.ID, flows ...flow) *writer {
	t.Helper()
	p := new(writer)
	p.log = openLog(t, s, self, o)
	p.start(t, func() (err error) {
		p.Store = store.New(store.Options{Workers: workers})
		if p.out, err = cells.New(p.Store, cells.Options[mail]{}); err != nil {
			return err
		}
		p.flows = store.Register(p.Store, store.TableOptions[flow]{})
		p.world, err = world.Open(t.Context(), p.Store, p.log.Log, world.Options{
			Version: "mails", Hz: mailHz, SnapshotTicks: 100, DigestTicks: 4, Tick: p.out.Tick(p.tick),
			Init: func(_ context.Context, w *store.Writer) error {
				for _, f := range flows {
					p.flows.Insert(w, f)
				}
				return p.out.Init(w, self)
			},
		})
		return err
	}, func(ctx context.Context, w *world.World, by cells.Transport) error { return p.out.Run(ctx, w, by) })
	return p
}

func (p *writer) tick(ctx context.Context, _ *store.Writer, t world.Tick) error {
	now := t.Time.UnixNano()
	for from, m := range p.out.Received() {
		for _, f := range p.flows.All() {
			if f.With != from {
				continue
			}
			if f.Received++; m.Number != f.Received {
				f.Wrong++
			}
		}
		p.mutex.Lock()
		p.waits = append(p.waits, time.Duration(now-m.Time))
		p.mutex.Unlock()
	}
	return p.Do(ctx, func(q store.Queue) {
		for _, f := range p.flows.All() {
			for range min(f.PerTick, p.out.Available(f.With)) {
				if f.Last == 0 || f.Sent < f.Last {
					f.Sent++
					p.out.Send(q, f.With, mail{f.Sent, now})
				}
			}
		}
	})
}

// flow returns the traffic with a cell, and the mails that wait in the state.
func (p *writer) flow(t testing.TB, with cells.ID) (f flow, waiting int) {
	t.Helper()
	noError(t, p.world.Read(context.Background(), func(context.Context, world.Tick) error {
		for _, o := range p.flows.All() {
			if o.With == with {
				f = *o
			}
		}
		waiting = 1<<16 - p.out.Available(with)
		for _, pair := range p.out.Pairs() {
			if pair.Err != nil {
				t.Error(pair.Err)
			}
		}
		return nil
	}))
	return f, waiting
}

// takeWaits returns the 99th percentile of the waits since the last call, and their number.
func (p *writer) takeWaits() (time.Duration, int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	all := p.waits
	p.waits = nil
	if len(all) == 0 {
		return 0, 0
	}
	slices.Sort(all)
	return all[len(all)*99/100], len(all)
}

// latencies returns the 99th percentiles of mails to each writer since the last call.
func latencies(writers ...*writer) string {
	var b strings.Builder
	for i, p := range writers {
		wait, n := p.takeWaits()
		fmt.Fprintf(&b, "%s%v of %d", map[bool]string{true: ", "}[i > 0], wait.Round(100*time.Microsecond), n)
	}
	return b.String()
}

// The mails to an absent cell leave the state for the disks of the servers, and arrive when it
// returns. The log of a longer absence shows that other mails of their sender take no longer than
// mails between two strangers.
func TestMailbox_KeepsMailOfAbsentCell(t *testing.T) {
	t.Parallel()
	absence := *absence
	if testing.Short() {
		absence = 0
	}
	c := startServers(t, 3, nil)
	servers := cluster.URLs(c.URLs(0))
	var o [5]cluster.Options
	for i := range o {
		o[i].Snapshots = cluster.Folder(t.TempDir())
	}
	const sender, near, far, stranger, friend = 1, 2, 3, 4, 5
	const perTick = 100 / mailHz
	b := startWriter(t, servers, o[1], 1, near, flow{With: sender, PerTick: perTick})
	a := startWriter(t, servers, o[0], 1, sender, flow{With: near, PerTick: perTick}, flow{With: far, PerTick: perTick})
	absent := startWriter(t, servers, o[2], 1, far, flow{With: sender})
	e := startWriter(t, servers, o[4], 1, friend, flow{With: stranger})
	d := startWriter(t, servers, o[3], 1, stranger, flow{With: friend, PerTick: perTick})
	cluster.WaitUntil(t, "the first mails", func() bool { f, _ := absent.flow(t, sender); return f.Received > 10 })
	latencies(b, e)
	time.Sleep(absence / 4)
	before := latencies(b, e)
	absent.kill(t)
	sent, _ := a.flow(t, far)
	begin := time.Now()
	cluster.WaitUntil(t, "mails to the absent cell leave the state", func() bool {
		f, waiting := a.flow(t, far)
		n := int(f.Sent - sent.Sent)
		return n > 50*perTick && waiting < n/2 && time.Since(begin) >= absence
	})
	during := latencies(b, e)
	missed, _ := a.flow(t, far)
	back := startWriter(t, servers, o[2], 1, far, flow{With: sender})
	begin = time.Now()
	cluster.WaitUntil(t, "the missed mails", func() bool { f, _ := back.flow(t, sender); return f.Received > missed.Sent })
	t.Logf("all %d mails arrived after %v", missed.Sent, time.Since(begin))
	latencies(b, e)
	time.Sleep(absence / 4)
	t.Logf("p99 to the other cell, and between strangers: before the absence %s, during it %s, after it %s", before, during, latencies(b, e))
	for cell, p := range map[cells.ID]*writer{sender: a, near: b, far: back, stranger: d, friend: e} {
		for _, with := range []cells.ID{sender, near, stranger} {
			if f, _ := p.flow(t, with); f.Wrong > 0 {
				t.Errorf("cell %d: %d wrong mails of cell %d", cell, f.Wrong, with)
			}
		}
		p.kill(t)
	}
}
