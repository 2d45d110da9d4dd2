package cluster_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"handloom/cluster"
	"handloom/cluster/cells"
	"handloom/store"
	"handloom/world"
)

type post struct {
	*store.Store
	out   *cells.Outbox[int]
	count *store.Table[count] // one row
	other cells.ID
	mailer
}

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

type count struct{ Sent, Received, Wrong int }

const (
	numbers = 1200
	perTick = 10
)

func startPost(t testing.TB, s cluster.Servers, blobs cluster.Blobs, workers int, self, other cells.ID) *post {
	t.Helper()
	p := &post{other: other}
	p.log = openLog(t, s, self, cluster.Options{Snapshots: blobs})
	p.start(t, func() (err error) {
		p.Store = store.New(store.Options{Workers: workers})
		if p.out, err = cells.New(p.Store, cells.Options[int]{}); err != nil {
			return err
		}
		p.count = store.Register(p.Store, store.TableOptions[count]{})
		p.world, err = world.Open(t.Context(), p.Store, p.log.Log, world.Options{
			Version: "counter", Hz: 100, SnapshotTicks: 100, DigestTicks: 4, Tick: p.out.Tick(p.tick),
			Init: func(_ context.Context, w *store.Writer) error {
				p.count.Insert(w, count{})
				return p.out.Init(w, self)
			},
		})
		return err
	}, func(ctx context.Context, w *world.World, by cells.Transport) error { return p.out.Run(ctx, w, by) })
	return p
}

func (p *post) tick(ctx context.Context, _ *store.Writer, _ world.Tick) error {
	for _, n := range p.count.All() {
		for _, m := range p.out.Received() {
			n.Received++
			if *m != n.Received {
				n.Wrong++
			}
		}
		err := p.Do(ctx, func(q store.Queue) {
			for range min(perTick, numbers-n.Sent) {
				n.Sent++
				p.out.Send(q, p.other, n.Sent)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *post) look(t testing.TB) (n count, arrived bool) {
	t.Helper()
	if why := p.world.Status().Halted; why != "" {
		t.Fatal(why)
	}
	err := p.world.Read(context.Background(), func(context.Context, world.Tick) error {
		for _, c := range p.count.All() {
			n = *c
		}
		arrived = p.out.Available(p.other) == 1<<16
		for _, pair := range p.out.Pairs() {
			if pair.Err != nil {
				t.Error(pair.Err)
			}
		}
		return nil
	})
	noError(t, err)
	return n, arrived
}

func TestTransport_DeliversOnceUnderFailover(t *testing.T) {
	t.Parallel()
	c := startServers(t, 3, nil)
	ids := [2]cells.ID{1, 2}
	blobs := [2]cluster.Blobs{cluster.Folder(t.TempDir()), cluster.Folder(t.TempDir())}
	var posts [4]*post
	open := func(i int) {
		cell := i / 2
		posts[i] = startPost(t, cluster.URLs(c.URLs(i%3)), blobs[cell], 1+i%2, ids[cell], ids[1-cell])
	}
	for i := range posts {
		open(i)
	}
	wait := func(what string, is func() bool) {
		t.Helper()
		late := time.Now().Add(patience)
		for !is() {
			if time.Now().After(late) {
				t.Fatalf("this never came: %s", what)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	moves := 0
	for share := 1; share < 4; share++ { // quarters
		for cell := range ids {
			p := posts[2*cell:][:2]
			wait("more numbers", func() bool {
				n, _ := p[0].look(t)
				m, _ := p[1].look(t)
				return max(n.Received, m.Received) >= numbers*share/4
			})
			leader := -1
			wait("a leader", func() bool {
				leader = slices.IndexFunc(p, func(p *post) bool { return p.world.Status().Leader })
				return leader >= 0
			})
			if share == 2 && p[leader].world.Handoff(cluster.Wait(t), "counter") != nil {
				continue // another node leads already
			}
			if share != 2 {
				p[leader].kill(t)
				open(2*cell + leader)
			}
			moves++
		}
	}
	wait("all numbers", func() bool {
		all := true
		for _, p := range posts {
			n, arrived := p.look(t)
			all = all && arrived && n.Sent == numbers && n.Received == numbers
		}
		return all
	})
	for i, p := range posts {
		if n, _ := p.look(t); n.Wrong > 0 {
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
