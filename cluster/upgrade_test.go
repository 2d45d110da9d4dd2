package cluster_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster"
	"handloom/cluster/internal/localnet"
	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

var (
	rounds    = flag.Int("rounds", 1, "number of upgrades and of restarts of all servers")
	stateSize = flag.Int("state", 1, "MB of state in tests of upgrades")
)

// A mark is a call of a client. The marks of a client are in their order.
type mark struct{ Client, Number int }

// A herd is three nodes under load, on three servers.
type herd struct {
	t       *testing.T
	servers *localnet.Cluster
	dirs    [3]string // of servers
	dir     string    // of nodes
	life    context.Context
	stop    context.CancelFunc
	clients sync.WaitGroup

	mutex sync.Mutex
	nodes []*herdNode
	acked map[mark]uint64 // tick of each acknowledged call
	tried map[mark]bool   // outcome unknown
	at    time.Time       // of the last acknowledgement
	gap   time.Duration   // the longest since look
}

type herdNode struct {
	world *world.World
	marks *store.Table[mark]
	log   cluster.PatientLog
	own   *journal.Journal
	stop  context.CancelFunc
	ended chan error
}

func newHerd(t *testing.T, version string) *herd {
	t.Helper()
	h := &herd{t: t, dir: t.TempDir(), acked: make(map[mark]uint64), tried: make(map[mark]bool)}
	h.servers = startServers(t, len(h.dirs), func(i int, o *server.Options) {
		h.dirs[i] = o.StoreDir
		o.LameDuckDuration, o.LameDuckGracePeriod = time.Second, 300*time.Millisecond
	})
	h.life, h.stop = context.WithCancel(context.Background())
	h.nodes = make([]*herdNode, h.servers.Len())
	for i := range h.nodes {
		h.replace(i, version)
	}
	for client := range 4 {
		h.clients.Go(func() { h.call(client) })
	}
	cluster.WaitUntil(h.t, "the first calls", func() bool { return h.count() > 20 })
	return h
}

// open opens a node and runs it.
func (h *herd) open(i int, version string) *herdNode {
	h.t.Helper()
	n := new(herdNode)
	var err error
	n.own, err = journal.Open(filepath.Join(h.dir, fmt.Sprint(i)), journal.Options{Sync: journal.Every(time.Second)})
	noError(h.t, err)
	n.log = openLog(h.t, cluster.URLs(h.servers.URLs(i)), 1, cluster.Options{Journal: n.own})
	noError(h.t, cluster.Patiently(h.t.Context(), func() error { return n.openWorld(h.t.Context(), version, 1+i) }))
	ctx, stop := context.WithCancel(context.Background())
	n.stop, n.ended = stop, make(chan error, 1)
	go func() { n.ended <- n.world.Run(ctx) }()
	return n
}

func (n *herdNode) openWorld(ctx context.Context, version string, workers int) (err error) {
	s := store.New(store.Options{Workers: workers})
	n.marks = store.Register(s, store.TableOptions[mark]{Name: "mark"})
	land := store.Register(s, store.TableOptions[[64]byte]{Name: "land"})
	n.world, err = world.Open(ctx, s, n.log.Log, world.Options{
		Version: version, Wait: true, Hz: 60,
		Init: func(_ context.Context, w *store.Writer) error {
			for i := range *stateSize << 20 / 64 {
				land.Insert(w, [64]byte{byte(i)})
			}
			return nil
		},
		Tick: func(ctx context.Context, _ *store.Writer, _ world.Tick) error {
			_, err := s.Flush(ctx)
			return err
		},
	})
	return err
}

func (n *herdNode) close() error {
	n.stop()
	err := <-n.ended
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, cluster.CloseWorld(n.world), n.log.Close(), n.own.Close())
}

// replace ends node i and starts it with another version.
func (h *herd) replace(i int, version string) {
	h.t.Helper()
	if old := h.node(i); old != nil {
		noError(h.t, old.close())
	}
	n := h.open(i, version)
	h.mutex.Lock()
	h.nodes[i] = n
	h.mutex.Unlock()
}

func (h *herd) node(i int) *herdNode {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.nodes[i]
}

// call submits marks until the herd ends.
func (h *herd) call(client int) {
	for number, i := 0, client; h.life.Err() == nil; {
		m, n := mark{client, number}, h.node(i%len(h.nodes))
		ctx, cancel := context.WithTimeout(h.life, 10*time.Second)
		r, err := n.world.Submit(ctx, func(q store.Queue) error {
			n.marks.Emplace(q, m)
			return nil
		})
		cancel()
		if err != nil && !errors.Is(err, store.ErrUncertain) {
			i++
			time.Sleep(time.Millisecond)
			continue
		}
		h.note(m, r, err)
		number++
	}
}

func (h *herd) note(m mark, r *store.Receipt, err error) {
	now := time.Now()
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if err != nil {
		h.tried[m] = true
		return
	}
	h.acked[m] = r.Tick()
	if !h.at.IsZero() {
		h.gap = max(h.gap, now.Sub(h.at))
	}
	h.at = now
}

func (h *herd) count() int {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return len(h.acked)
}

// look returns the longest time between two acknowledged calls since the last look.
func (h *herd) look() (gap time.Duration) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	gap, h.gap = max(h.gap, time.Since(h.at)), 0
	return gap
}

// leader waits for a leader.
func (h *herd) leader() (leader int) {
	h.t.Helper()
	cluster.WaitUntil(h.t, "a leader", func() bool {
		for i := range h.nodes {
			if h.node(i).world.Status().Leader {
				leader = i
				return true
			}
		}
		return false
	})
	return leader
}

// ends ends clients and nodes, and compares the state with the answers.
func (h *herd) ends() {
	h.t.Helper()
	h.stop()
	h.clients.Wait()
	var times map[mark]int
	cluster.WaitUntil(h.t, "a state with all acknowledged calls", func() bool {
		times = h.state(h.leader()) // it may not know yet that another node leads
		for m := range h.acked {
			if times[m] == 0 {
				return false
			}
		}
		return true
	})
	for m, n := range times {
		if _, acked := h.acked[m]; !acked && !h.tried[m] || n > 1 {
			h.t.Errorf("call %v is there %d times; acknowledged: %t", m, n, acked)
		}
	}
	for i := range h.nodes {
		noError(h.t, h.node(i).close())
	}
	h.t.Logf("%d calls acknowledged, %d uncertain", len(h.acked), len(h.tried))
}

// state returns how often the state of a node has each call, and checks their order.
func (h *herd) state(node int) (times map[mark]int) {
	h.t.Helper()
	n, next := h.node(node), make(map[int]int)
	times = make(map[mark]int)
	noError(h.t, n.world.Read(context.Background(), func(context.Context, world.Tick) error {
		for _, m := range n.marks.All() {
			times[*m]++
			if m.Number < next[m.Client] {
				h.t.Fatalf("client %d: call %d after call %d", m.Client, m.Number, next[m.Client])
			}
			next[m.Client] = m.Number
		}
		return nil
	}))
	return times
}

// The followers are replaced by nodes of the new version, then the leader hands off.
func TestUpgrade_Rolling(t *testing.T) {
	t.Parallel()
	h := newHerd(t, "herd 0")
	for round := range *rounds {
		h.look()
		version, first := fmt.Sprint("herd ", round+1), h.leader()
		for i := range h.nodes {
			if i != first {
				h.replace(i, version)
			}
		}
		cluster.WaitUntil(h.t, "the only node that does not wait", func() bool { return h.leader() == first })
		begun := time.Now()
		cluster.WaitUntil(h.t, "a handoff", func() bool { return h.node(first).world.Handoff(t.Context(), version) == nil })
		took := time.Since(begun)
		handed := h.node(first).world.Status().Position
		h.replace(first, version)
		cluster.WaitUntil(h.t, "calls of the new version", func() bool { return h.node(h.leader()).world.Status().Position > handed+20 })
		t.Logf("upgrade %d: %v without an acknowledged call; Handoff took %v", round+1, h.look(), took)
	}
	h.ends()
}

// Each server in turn is stopped in lame duck mode, and started again.
func TestServers_RollingRestart(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("lame duck mode takes seconds")
	}
	h := newHerd(t, "herd")
	js, stream := operator(t, h.servers), cluster.CellID(1).Stream()
	for round := range *rounds {
		for i := range h.servers.Len() {
			h.look()
			leads := h.servers.Leader(stream) == i
			h.servers.LameDuck(i)
			noError(t, h.servers.Restart(i))
			cluster.WaitUntil(h.t, "current replicas", func() bool { return isCurrent(t.Context(), js) })
			t.Logf("restart %d of server %d (stream leader: %t): %v without an acknowledged call", round+1, i, leads, h.look())
		}
	}
	h.ends()
}

// A fourth server takes new cells, a server with an empty folder replaces one of the same name.
func TestServers_AddAndReplace(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("lame duck mode takes seconds")
	}
	h := newHerd(t, "herd")
	js := operator(t, h.servers)
	added, err := h.servers.Add()
	noError(t, err)
	noError(t, h.servers.Ready(cluster.Wait(t)))
	fill(t, openLog(t, cluster.URLs([]string{h.servers.URL(added)}), 2, cluster.Options{}), 10)

	h.servers.Stop(1)
	noError(t, os.RemoveAll(h.dirs[1]))
	noError(t, h.servers.Restart(1))
	cluster.WaitUntil(h.t, "current replicas", func() bool { return isCurrent(t.Context(), js) })
	h.servers.LameDuck(2) // a quorum needs the new one
	n := h.count()
	cluster.WaitUntil(h.t, "calls without server 2", func() bool { return h.count() > n+20 })
	h.ends()
}

// isCurrent reports whether the leader of each stream has both others up to date. A server may
// be stopped only then: its streams go to one of them.
func isCurrent(ctx context.Context, js jetstream.JetStream) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	streams := js.ListStreams(ctx)
	n := 0
	for s := range streams.Info() {
		n++
		if s.Cluster == nil || s.Cluster.Leader == "" || len(s.Cluster.Replicas) != 2 {
			return false
		}
		for _, r := range s.Cluster.Replicas {
			if !r.Current || r.Offline || r.Lag > 0 {
				return false
			}
		}
	}
	return streams.Err() == nil && n > 0
}
