package cluster_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"handloom/cluster"
	"handloom/cluster/cells"
	"handloom/world"
)

// A mailer runs a world with an outbox.
type mailer struct {
	log   cluster.PatientLog
	world *world.World
	stop  context.CancelFunc
	ended sync.WaitGroup
}

// start opens the world, and runs it and its outbox. An open that fails is repeated with a new store.
func (p *mailer) start(t testing.TB, open func() error, runOutbox func(context.Context, *world.World, cells.Transport) error) {
	t.Helper()
	noError(t, cluster.Patiently(t.Context(), open))
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.ended.Go(func() {
		if err := p.world.Run(ctx); !errors.Is(err, context.Canceled) && !errors.Is(err, cluster.ErrClosed) {
			t.Errorf("Run: %v", err)
		}
	})
	p.ended.Go(func() { _ = runOutbox(ctx, p.world, p.log.Transport()) })
}

// kill closes the log first, as a killed process would.
func (p *mailer) kill(t testing.TB) {
	t.Helper()
	noError(t, p.log.Close())
	p.stop()
	p.ended.Wait()
	cluster.KillWorld(p.world)
}

// Each cell runs on two nodes, with one and two workers.
func TestTransport_DeliversOnceUnderFailover(t *testing.T) {
	t.Parallel()
	c := startServers(t, 3, nil)
	ids := [2]cells.ID{1, 2}
	blobs := [2]cluster.Blobs{cluster.Folder(t.TempDir()), cluster.Folder(t.TempDir())}
	const numbers = 1200
	var posts [4]*writer
	open := func(i int) {
		cell := i / 2
		posts[i] = startWriter(t, cluster.URLs(c.URLs(i%3)), cluster.Options{Snapshots: blobs[cell]}, 1+i%2, ids[cell], flow{With: ids[1-cell], PerTick: 20, Last: numbers})
	}
	for i := range posts {
		open(i)
	}
	look := func(i int) (f flow, waiting int) { return posts[i].flow(t, ids[1-i/2]) }
	moves := 0
	for share := 1; share < 4; share++ { // quarters
		for cell := range ids {
			p := posts[2*cell:][:2]
			cluster.WaitUntil(t, "more numbers", func() bool {
				n, _ := look(2 * cell)
				m, _ := look(2*cell + 1)
				return max(n.Received, m.Received) >= numbers*uint64(share)/4
			})
			leader := -1
			cluster.WaitUntil(t, "a leader", func() bool {
				leader = slices.IndexFunc(p, func(p *writer) bool { return p.world.Status().Leader })
				return leader >= 0
			})
			if share == 2 && p[leader].world.Handoff(cluster.Wait(t), "mails") != nil {
				continue // another node leads already
			}
			if share != 2 {
				p[leader].kill(t)
				open(2*cell + leader)
			}
			moves++
		}
	}
	cluster.WaitUntil(t, "all numbers", func() bool {
		all := true
		for i := range posts {
			n, waiting := look(i)
			all = all && waiting == 0 && n.Sent == numbers && n.Received == numbers
		}
		return all
	})
	for i, p := range posts {
		if n, _ := look(i); n.Wrong > 0 {
			t.Errorf("node %d: %d numbers came twice, or not in their order", i, n.Wrong)
		}
		p.kill(t)
	}
	t.Logf("%d numbers each way; the cells went to another node %d times", numbers, moves)
	if moves < 4 {
		t.Error("they hardly went anywhere")
	}
}

// receive repeats Receive, which fails only before it delivers.
func receive(ctx context.Context, l cluster.PatientLog, cell cells.ID, outbox string, deliver func(context.Context, cells.ID, [][]byte) error) error {
	return cluster.Patiently(ctx, func() error { return l.Transport().Receive(ctx, cell, outbox, deliver) })
}

// sendTo repeats Send, also until a Receive has created the stream. The packet may arrive repeatedly.
func sendTo(ctx context.Context, l cluster.PatientLog, from, to cells.ID, outbox string, packet []byte) error {
	return cluster.Patiently(ctx, func() error { return l.Transport().Send(ctx, from, to, outbox, packet) })
}

// A closed Log ends Receive.
func TestTransport_ReportsUnreachableCell(t *testing.T) {
	t.Parallel()
	self := cells.ID(1)
	l := openLog(t, cluster.Embedded(t.TempDir()), self, cluster.Options{Snapshots: cluster.Folder(t.TempDir())})
	by := l.Transport()
	send := func(to cells.ID, packet []byte) error { return by.Send(t.Context(), self, to, "mail", packet) }
	wantError(t, send(77, []byte("parcel")), cells.ErrUnreachable, "Abandon")
	wantText(t, "a packet above max_payload", send(self, make([]byte, 65<<20)), "raise it")
	none := func(context.Context, cells.ID, [][]byte) error { return nil }
	wantText(t, "Receive for another cell", by.Receive(t.Context(), self+1, "mail", none), "want the log's")
	wantText(t, "Send for another cell", by.Send(t.Context(), self+1, self, "mail", nil), "want the log's")
	ctx, stop := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	got := make(chan string)
	ended.Go(func() {
		wantError(t, receive(ctx, l, self, "mail", func(_ context.Context, from cells.ID, packets [][]byte) error {
			if from == self {
				select {
				case got <- string(packets[0]):
				case <-ctx.Done(): // a repeated packet
				}
			}
			return nil
		}), context.Canceled)
	})
	noError(t, sendTo(cluster.Wait(t), l, self, self, "mail", []byte("parcel")))
	if text := <-got; text != "parcel" {
		t.Errorf("got %q", text)
	}
	stop()
	ended.Wait()
	ended.Go(func() {
		wantError(t, receive(t.Context(), l, self, "mail", none), cluster.ErrClosed)
	})
	noError(t, l.Close())
	ended.Wait()
}
