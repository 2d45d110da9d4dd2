package cells_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"handloom/cluster/cells"
	"handloom/internal/entrance"
	"handloom/store"
	"handloom/world"
)

func TestMain(m *testing.M) {
	_ = flag.Set("rapid.seed", "1") // a flag of the command line overrides it; -rapid.seed=0 draws a seed
	goleak.VerifyTestMain(m)
}

func noError(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func errorOf(_ any, err error) error { return err }

type town struct {
	*store.Store
	out   *cells.Outbox[word]
	roads *store.Table[road]
	heard *store.Table[heard]

	hz      int
	version string
	wait    bool
	init    func(t *town, w *store.Writer) error
	fault   func(t *town, tick uint64) error // called after a tick
	hears   func(g *town, m *word, tick uint64) error
	poison  func(number uint64) bool // words whose ticks fail

	inputs, saves int // ticks with input, and copies of the state for dead letters
}

type word struct {
	N    uint64
	Road cells.Ref[road] // from the sender
	Text string
}

// A road leads to another town.
type road struct {
	To      cells.ID
	Left    int    // words to send
	Next    uint64 // number of the next word
	PerTick int
}

type heard struct {
	From  cells.ID
	Next  uint64 // expected number
	Count int
	Wrong int // count of unexpected words
}

func newTown(t testing.TB, workers int, o cells.Options[word]) *town {
	t.Helper()
	s := store.New(store.Options{Workers: workers})
	g := &town{Store: s, hz: 60, version: "town"}
	var err error
	g.out, err = cells.New(s, o)
	noError(t, err)
	g.roads = store.Register(s, store.TableOptions[road]{Name: "road"})
	g.heard = store.Register(s, store.TableOptions[heard]{Name: "heard"})
	return g
}

func (g *town) from(self cells.ID, roads ...road) *town {
	g.init = func(g *town, w *store.Writer) error {
		err := g.out.Init(w, self)
		for _, r := range roads {
			r.Next = 1
			g.roads.Insert(w, r)
		}
		return err
	}
	return g
}

func (g *town) options() world.Options {
	return world.Options{
		Version: g.version, Wait: g.wait, Hz: g.hz, SnapshotTicks: 50, DigestTicks: 4, Shadow: 0.1,
		Init: func(_ context.Context, w *store.Writer) error { return g.init(g, w) },
		Tick: g.tick,
	}
}

func (g *town) tick(ctx context.Context, w *store.Writer, t world.Tick) error {
	if redo := entrance.RedoOf(ctx); redo != nil {
		g.inputs++
		save := redo.Save
		redo.Save = func(ctx context.Context) bool { g.saves++; return save(ctx) }
	}
	if err := g.out.Tick(g.live)(ctx, w, t); err != nil {
		return err
	}
	if g.fault != nil {
		return g.fault(g, t.Number)
	}
	return nil
}

func (g *town) live(ctx context.Context, w *store.Writer, t world.Tick) error {
	for from, m := range g.out.Received() {
		if err := g.receive(w, from, m); err != nil {
			return err
		}
		if g.hears != nil {
			if err := g.hears(g, m, t.Number); err != nil {
				return err
			}
		}
	}
	for h, r := range g.roads.All() {
		n := min(r.Left, r.PerTick, g.out.Available(r.To))
		const tasks = 8
		err := g.Each(ctx, tasks, func(task int, q store.Queue) {
			for i := task * n / tasks; i < (task+1)*n/tasks; i++ {
				g.out.Send(q, r.To, word{r.Next + uint64(i), cells.Ref[road]{Cell: g.out.Self(), Handle: h}, "hello"})
			}
		})
		if err != nil {
			return err
		}
		r.Left, r.Next = r.Left-n, r.Next+uint64(n)
	}
	return nil
}

func (g *town) receive(w *store.Writer, from cells.ID, m *word) error {
	h := g.heardFrom(from)
	if h == nil {
		h = g.heard.At(g.heard.Insert(w, heard{From: from, Next: 1}))
	}
	for g.poison != nil && g.poison(h.Next) {
		h.Next++
	}
	if m.N != h.Next || m.Road.Cell != from || m.Text != "hello" {
		h.Wrong++
	}
	h.Next = m.N + 1
	h.Count++
	if g.poison == nil || !g.poison(m.N) {
		return nil
	}
	if m.N%2 == 0 {
		panic(errFault)
	}
	return errFault
}

func (g *town) heardFrom(from cells.ID) *heard {
	for _, h := range g.heard.All() {
		if h.From == from {
			return h
		}
	}
	return nil
}

// A node runs a town.
type node struct {
	*town
	world *world.World
	life  context.Context
	stop  context.CancelFunc
	ended sync.WaitGroup
	err   error
}

func start(t testing.TB, g *town, l world.Log, by cells.Transport) *node {
	t.Helper()
	w, err := world.Open(context.Background(), g.Store, l, g.options())
	noError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	n := &node{town: g, world: w, life: ctx, stop: stop}
	n.ended.Go(func() { n.err = w.Run(ctx) })
	if by != nil {
		n.runOutbox(by)
	}
	return n
}

// runOutbox runs the outbox of a node.
func (n *node) runOutbox(by cells.Transport) {
	n.ended.Go(func() { _ = n.out.Run(n.life, n.world, by) })
}

func (n *node) kill(t testing.TB) error {
	t.Helper()
	n.stop()
	n.ended.Wait()
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	err := n.world.Close(dead)
	if errors.Is(err, context.Canceled) { // an append or a snapshot takes more than a second
		err = n.world.Close(context.Background())
	}
	noError(t, err)
	if errors.Is(n.err, context.Canceled) {
		return nil
	}
	return n.err
}

func (n *node) look(t testing.TB, at func()) {
	t.Helper()
	noError(t, n.world.Read(context.Background(), func(context.Context, world.Tick) error {
		at()
		return nil
	}))
}

func (n *node) pair(t testing.TB, with cells.ID) (pair cells.Pair) {
	t.Helper()
	n.look(t, func() {
		for _, p := range n.out.Pairs() {
			if p.Cell == with {
				pair = p
			}
		}
	})
	return pair
}

func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for range 10_000 {
		if is() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("timeout: %s", what)
}

// locked is a log with a lock, so its world leads at once.
type locked struct{ world.Log }

func (locked) ElectionTimeout() time.Duration { return 0 }

type whole struct {
	world.Log
	genesis []byte
}

func (*whole) Trim(context.Context, uint64) error { return nil }

func (l *whole) Save(ctx context.Context, at uint64, write func(w io.Writer) error) error {
	if at == 0 {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return err
		}
		l.genesis = b.Bytes()
	}
	return l.Log.Save(ctx, at, write)
}

type beginning struct{ *whole }

func (beginning) Snapshots(context.Context) ([]uint64, error) { return []uint64{0}, nil }

func (l beginning) Load(context.Context, uint64) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(l.genesis)), nil
}

func digest(t testing.TB, s *store.Store) uint64 {
	t.Helper()
	d, err := s.Digest(context.Background())
	noError(t, err)
	return d
}

// rough is a Transport that loses, repeats and delays packets on the way to the mailbox.
type rough struct {
	cells.Transport
	random *rand.Rand
	mutex  sync.Mutex
	late   sync.WaitGroup

	lostPackets, lostAcks, doubled, delayed int
}

var errLost = errors.New("lost")

func (r *rough) Send(ctx context.Context, from, to cells.ID, outbox string, packet []byte) error {
	r.mutex.Lock()
	fate, delay := r.random.IntN(12), time.Duration(r.random.IntN(int(2*time.Second)))
	switch fate {
	case 0:
		r.lostPackets++
	case 1:
		r.lostAcks++
	case 2:
		r.doubled++
	case 3:
		r.delayed++
	}
	r.mutex.Unlock()
	again := func(after time.Duration) {
		packet := bytes.Clone(packet)
		r.late.Go(func() {
			time.Sleep(after)
			_ = r.Transport.Send(context.Background(), from, to, outbox, packet)
		})
	}
	switch fate {
	case 0:
		return errLost
	case 1:
		_ = r.Transport.Send(ctx, from, to, outbox, packet)
		return errLost
	case 2:
		again(0)
	case 3: // arrives after later packets
		again(delay)
		return errLost
	}
	return r.Transport.Send(ctx, from, to, outbox, packet)
}
