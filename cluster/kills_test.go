package cluster_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"handloom/cluster"
	"handloom/cluster/internal/servers"
	"handloom/internal/entry"
	"handloom/journal"
	"handloom/proof/game"
	"handloom/proof/logtest"
	"handloom/world"
)

// A node is a place where a world runs, is killed, and is opened again.
type node struct {
	id      int
	servers *servers.Cluster
	o       cluster.Options
	seen    *witness

	mutex sync.Mutex // of what follows, which clients look at
	log   *cluster.Log
	world *world.World
	game  *game.Game

	stop  context.CancelFunc
	ended chan error
}

const killed = cluster.CellID(7)

func (n *node) open(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		err := n.tryOpen(t, ctx)
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("node %d: %v", n.id, err)
		}
	}
}

func (n *node) tryOpen(t *testing.T, ctx context.Context) error {
	g := newGame(t, []int{1, 2, 8}[n.id])
	l, err := cluster.Open(ctx, cluster.URLs(n.servers.URLs(n.id), nats.DontRandomize()), killed, n.o)
	if err != nil {
		return err
	}
	w, err := world.Open(ctx, g.Store, l, options(g, "game", n.seen))
	if err != nil {
		return errors.Join(err, l.Close())
	}
	n.mutex.Lock()
	n.log, n.world, n.game = l, w, g
	n.mutex.Unlock()
	run, stop := context.WithCancel(context.Background())
	n.stop, n.ended = stop, make(chan error, 1)
	go func() { n.ended <- w.Run(run) }()
	return nil
}

// kill ends the node in the midst of what it does.
func (n *node) kill(t *testing.T) {
	t.Helper()
	mustClose(t, n.log)
	n.stop()
	if err := <-n.ended; !errors.Is(err, context.Canceled) && !errors.Is(err, fs.ErrClosed) {
		t.Errorf("node %d: Run: %v", n.id, err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := n.world.Close(ended); err != nil {
		t.Errorf("node %d: Close: %v", n.id, err)
	}
}

func (n *node) now() (*world.World, *game.Game) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return n.world, n.game
}

// leaveMarks leaves marks one after another, wherever the owner is, until ctx ends.
func leaveMarks(ctx context.Context, nodes []*node, client, clients int) (o logtest.Outcomes) {
	for key := client; ctx.Err() == nil; {
		w, g := nodes[key%len(nodes)].now()
		for _, n := range nodes {
			if other, of := n.now(); other.Status().Owner {
				w, g = other, of
			}
		}
		one, cancel := context.WithTimeout(ctx, time.Second)
		_, err := w.Submit(one, g.Leave(uint64(key)))
		cancel()
		if o.Note(key, err) {
			time.Sleep(time.Millisecond) // nobody owns the log: it is not worth asking at once
		}
		key += clients
	}
	return o
}

// The owner is killed over and over, and servers now and then, among them the one that
// leads the stream. Ticks go on, all worlds come to the same states, and each mark whose
// Submit returned is there once.
func TestNothingIsLostWhenNodesAndServersAreKilled(t *testing.T) {
	lasting := 20 * time.Second
	if testing.Short() {
		lasting = 3 * time.Second
	}
	const seed = 1
	random := rand.New(rand.NewPCG(seed, 1))
	dir, seen := t.TempDir(), new(witness)
	c := startServers(t, 3, nil)
	nodes := make([]*node, 3)
	for i := range nodes {
		j, err := journal.Open(filepath.Join(dir, fmt.Sprint("journal", i)), journal.Options{Sync: journal.Every(time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { mustClose(t, j) })
		nodes[i] = &node{id: i, servers: c, seen: seen, o: cluster.Options{Journal: j}}
		if !testing.Short() {
			nodes[i].o.Snapshots = cluster.Folder(filepath.Join(dir, "blobs"))
		}
		nodes[i].open(t)
	}
	ctx, finish := context.WithCancel(t.Context())
	said := make(chan logtest.Outcomes)
	const clients = 3
	for client := range clients {
		go func() { said <- leaveMarks(ctx, nodes, client, clients) }()
	}
	kills := 0
	down := -1 // a server
	term := func() uint32 { return nodes[0].world.Status().Term }
	for begin, round := time.Now(), 0; time.Since(begin) < lasting || kills < 4 || term() < 3; round++ {
		seen.wantTicks(t, 10+random.Uint64N(30))
		switch {
		case down >= 0 && round%3 == 0:
			if err := c.Restart(down); err != nil {
				t.Fatal(err)
			}
			down = -1
		case down < 0 && round%12 == 4 && !testing.Short():
			down = (c.Leader(killed.Stream()) + 1) % 3
			c.Stop(down)
		case down < 0 && round%12 == 10 && time.Since(begin) < lasting*3/4 && !testing.Short():
			if err := c.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
			down = max(c.Leader(killed.Stream()), 0)
			c.Stop(down)
		default:
			n := nodes[random.IntN(3)]
			for _, other := range nodes {
				if random.IntN(4) > 0 && other.world.Status().Owner {
					n = other
				}
			}
			n.kill(t)
			n.open(t)
			kills++
		}
	}
	seen.wantTicks(t, 5)
	finish()
	var all logtest.Outcomes
	for range clients {
		all.Add(<-said)
	}
	for _, n := range nodes {
		n.kill(t)
	}
	seen.wantNoDifference(t)
	if down >= 0 {
		if err := c.Restart(down); err != nil {
			t.Fatal(err)
		}
	}
	l := openLog(t, cluster.URLs(c.URLs(0)), killed, nodes[0].o)
	terms := wantMarks(t, l, seen, all)
	t.Logf("%d kills, %d terms, %d ticks; %d calls applied, %d not, %d uncertain", kills, terms, seen.at(), len(all.Applied), len(all.Not), len(all.Uncertain))
	if len(all.Applied) == 0 {
		t.Error("nothing happened")
	}
}

// wantTicks waits until some more ticks have been applied.
func (s *witness) wantTicks(t *testing.T, more uint64) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for from := s.at(); s.at() < from+more; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no tick behind tick %d", s.at())
		}
	}
}

// wantMarks plays the log once more and fails the test unless the marks are there that are
// to be, and the records follow each other. It returns how many terms there were.
func wantMarks(t *testing.T, l *cluster.Log, seen *witness, o logtest.Outcomes) (terms uint32) {
	t.Helper()
	terms = wantChain(t, l)
	g := newGame(t, 4)
	if err := world.Replay(t.Context(), g.Store, l, options(g, "game", seen), 1<<40); err != nil {
		t.Fatal(err)
	}
	seen.wantNoDifference(t)
	times := make(map[int]int)
	for _, n := range g.Notes.All() {
		times[int(n.Key)]++
	}
	o.Want(t, times)
	return terms
}

// wantChain fails the test unless each record that is kept follows the one before it, in
// chain, term and tick. It returns the last term.
func wantChain(t *testing.T, l *cluster.Log) uint32 {
	t.Helper()
	saved, err := l.Saved(t.Context())
	if err != nil || len(saved) == 0 {
		t.Fatalf("snapshots %v, %v", saved, err)
	}
	tail, err := l.Tail(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var last entry.Record
	var chain [16]byte
	known := false
	err = l.Read(t.Context(), saved[len(saved)-1], func(at uint64, rec []byte) error {
		var r entry.Record
		err := r.Decode(rec)
		switch {
		case err != nil:
			return err
		case known && (r.Chain != chain || r.Term < last.Term || r.Tick < last.Tick || r.Kind == entry.KindTick && r.Tick != last.Tick+1):
			return fmt.Errorf("record %d, %+v, does not follow %+v", at, r, last)
		}
		sum := sha256.Sum256(append(r.Chain[:], rec...))
		last, known = r, true
		if copy(chain[:], sum[:]); at == tail {
			return errEnough
		}
		return nil
	})
	if err != errEnough {
		t.Fatal(err)
	}
	return last.Term
}
