package world_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	kit "handloom/proof/game"
	"handloom/store"
	"handloom/world"
)

// Acknowledged calls are applied once, refused ones never, uncertain ones at most once.
func TestNemesis_AppliesAcknowledgedCallsOnce(t *testing.T) {
	seeds := uint64(8)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		inBubble(t, fmt.Sprint("seed=", seed), func(t *testing.T) { playNemesis(t, seed) })
	}
}

type mark struct{ Key int }

// past depends on every tick, with or without input.
type past struct{ Sum uint64 }

type node struct {
	*running
	log   *kit.FaultyLog
	marks *store.Table[mark]
}

// marking returns a program that keeps every mark.
func marking(t testing.TB) (*store.Store, *store.Table[mark], world.Options) {
	t.Helper()
	s := store.New(alone)
	marks := store.Register(s, store.TableOptions[mark]{Name: "mark", Shards: 2})
	pasts := store.Register(s, store.TableOptions[past]{Name: "past"})
	return s, marks, world.Options{
		Hz: 60, SnapshotTicks: 50, DigestTicks: 4, Shadow: 0.1,
		Init: func(_ context.Context, w *store.Writer) error {
			pasts.Insert(w, past{})
			return nil
		},
		Tick: func(ctx context.Context, _ *store.Writer, t world.Tick) error {
			for _, p := range pasts.All() {
				p.Sum = (p.Sum ^ t.Seed ^ uint64(t.Time.UnixNano())) * 0x9e3779b97f4a7c15
			}
			_, err := s.Flush(ctx)
			return err
		},
	}
}

func (n *node) open(t *testing.T) {
	t.Helper()
	s, marks, o := marking(t)
	w, err := world.Open(context.Background(), s, n.log, o)
	noError(t, err)
	n.running, n.marks = runWorld(nil, w), marks
}

func playNemesis(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 7))
	shared := keeping{world.Memory()}
	lock := make(chan struct{}, 1) // a mutex would stop the fake clock
	nodes := make([]*node, 3)
	for i := range nodes {
		nodes[i] = &node{log: &kit.FaultyLog{Log: shared}}
		nodes[i].open(t)
	}
	ctx, finish := context.WithCancel(context.Background())
	said := make(chan map[int]error)
	for client := range 3 {
		go func() { said <- submitMarks(ctx, nodes, lock, client) }()
	}
	for range 40 {
		time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
		n := nodes[random.IntN(len(nodes))]
		switch random.IntN(6) {
		case 0:
			lock <- struct{}{}
			n.end(t)
			n.log.SetFaults(0, 0, false)
			n.open(t)
			<-lock
		case 1:
			n.log.SetFaults(time.Duration(random.IntN(2000))*time.Millisecond, 0, false)
		case 2:
			lock <- struct{}{} // ticks without input
			time.Sleep(200 * time.Millisecond)
			n.log.SetFaults(time.Duration(random.IntN(1000))*time.Millisecond, 0, false)
			time.Sleep(time.Second)
			<-lock
		case 3:
			go n.Handoff(within(t, time.Minute), "")
		default:
			n.log.SetFaults(0, 1+random.IntN(4), random.IntN(2) == 0)
		}
	}
	finish()
	all := make(map[int]error)
	for range 3 {
		maps.Copy(all, <-said)
	}
	time.Sleep(10 * time.Second)
	for _, n := range nodes {
		n.end(t)
	}
	wantMarks(t, shared, all)
}

// submitMarks submits marks with unique keys, and returns the error of each.
func submitMarks(ctx context.Context, nodes []*node, lock chan struct{}, client int) map[int]error {
	said := make(map[int]error)
	for key := client; ctx.Err() == nil; key += 3 {
		lock <- struct{}{}
		n := nodes[key/3%len(nodes)]
		w, marks := n.World, n.marks
		<-lock
		one, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		_, err := w.Submit(one, func(q store.Queue) error {
			marks.Emplace(q, mark{key})
			return nil
		})
		cancel()
		if said[key] = err; err != nil && !errors.Is(err, store.ErrUncertain) {
			time.Sleep(5 * time.Millisecond)
		}
	}
	return said
}

func wantMarks(t *testing.T, l world.Log, said map[int]error) {
	t.Helper()
	s, marks, options := marking(t)
	noError(t, world.Replay(t.Context(), s, l, options, 1<<40))
	times := make(map[int]int)
	for _, m := range marks.All() {
		times[m.Key]++
	}
	applied := 0
	for key, err := range said {
		n := times[key]
		if err == nil {
			applied++
		}
		failIf(t, n > 1 || err == nil && n != 1 || err != nil && !errors.Is(err, store.ErrUncertain) && n != 0, "call %d was applied %d times, and Submit reported %v", key, n, err)
	}
	a := mustAudit(t, l)
	t.Logf("%d terms, %d ticks; %d of %d calls are applied", a.Terms, a.Ticks, applied, len(said))
	failIf(t, a.Terms < 2 || applied < 100, "nothing much happened: %d terms, %d calls applied", a.Terms, applied)
}
