package cells_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"handloom/cluster/cells"
	kit "handloom/proof/game"
	"handloom/store"
	"handloom/world"
)

type counting struct {
	cells.Transport
	times  atomic.Int64
	answer func(ctx context.Context) (uint64, error)
}

func (a *counting) Request(ctx context.Context, _ cells.ID, _ []byte) (uint64, error) {
	a.times.Add(1)
	return a.answer(ctx)
}

func TestRun_LimitsRequests(t *testing.T) {
	for _, c := range []struct {
		name     string
		answer   func(ctx context.Context) (uint64, error)
		min, max int64
	}{
		{"stopped pair", func(context.Context) (uint64, error) { return words + 1, nil }, 1, 1},
		{"errors", func(context.Context) (uint64, error) { return 0, errLost }, 590, 620},
		{"no answer", func(ctx context.Context) (uint64, error) { <-ctx.Done(); return 0, context.Cause(ctx) }, 190, 220},
	} {
		t.Run(c.name, func(t *testing.T) {
			withTwo(t, func(t *testing.T, b *two) {
				by := &counting{Transport: b.by, answer: c.answer}
				b.by = by
				b.send()
				time.Sleep(10 * time.Minute)
				if n := by.times.Load(); n < c.min || n > c.max {
					t.Errorf("%d requests, want %d to %d", n, c.min, c.max)
				}
			})
		})
	}
}

// Also this answer waits for the log: a node that lost the log may have an old cursor.
func TestRun_AnswersCursorAfterPacket(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		l := &kit.FaultyLog{Log: b.logs[1]}
		b.logs[1] = l
		from := newPost(t, cells.Options[word]{})
		b.ids[0] = from.self
		b.receive(b.by)
		var packet []byte
		for tick := range uint64(3) {
			from.mustSend(t, b.ids[1], word{N: tick}, word{N: tick})
			synctest.Wait() // until the hearer serves
			packet = from.out.Pack(b.ids[1], 2*tick)
			for range 2 {
				if cursor, err := b.by.Request(t.Context(), b.ids[1], packet); cursor != 2*tick+2 || err != nil {
					t.Errorf("tick %d: %d, %v, want %d", tick, cursor, err, 2*tick+2)
				}
			}
		}
		l.SetFaults(0, 1<<30, false)
		if cursor, err := b.by.Request(t.Context(), b.ids[1], packet); err == nil {
			t.Errorf("a node that cannot append answers: %d, %v", cursor, err)
		}
		l.SetFaults(0, 0, false)
	})
}

func TestRun_NeedsID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newTown(t, 1, cells.Options[word]{})
		g.init = func(*town, *store.Writer) error { return nil }
		w, err := world.Open(t.Context(), g.Store, locked{world.Memory()}, g.options())
		noError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := g.out.Run(ctx, w, cells.Local()); err == nil || !strings.Contains(err.Error(), "Init") {
			t.Errorf("Run: %v, want the name of Init", err)
		}
		noError(t, w.Close(t.Context()))
	})
}

func TestPairs_IgnoreUnknownCells(t *testing.T) {
	a := newPost(t, cells.Options[int]{})
	for range 2 {
		a.enqueue(t, func(q store.Queue) {
			a.out.Acked(q, 77, 0)
			a.out.Resume(q, 78)
			a.out.Abandon(q, 79)
		})
		a.mustSend(t, a.self)
		if n := len(a.out.Pairs()); n != 1 {
			t.Errorf("%d pairs", n-1)
		}
	}
}

type convoy struct {
	Lead  cells.Ref[road]
	Items []store.ID
}

func TestSend_ResolvesHandles(t *testing.T) {
	p := newOutbox(t, cells.Options[convoy]{
		Clone: func(dst, src *convoy) { *dst = convoy{src.Lead, slices.Clone(src.Items)} },
		Links: func(m *convoy, visit func(id *store.ID)) {
			for i := range m.Items {
				visit(&m.Items[i])
			}
		},
	})
	roads := store.Register(p.Store, store.TableOptions[road]{Name: "road"})
	p.begin(t)
	noError(t, errorOf(p.tick(func(q store.Queue) {
		lead := cells.Ref[road]{Cell: p.self, Handle: roads.Emplace(q, road{Left: 3})}
		p.out.Send(q, p.self, convoy{lead, []store.ID{roads.Emplace(q, road{Left: 1}).ID, roads.Emplace(q, road{Left: 2}).ID}})
	})))
	p.submit(t, p.out.Pack(p.self, 0))
	var left []int
	for _, m := range p.mustSend(t, p.self) {
		lead, _ := m.Lead.In(p.self)
		for _, id := range append(m.Items, lead.ID) {
			if r, ok := roads.Get(store.Handle[road]{ID: id}); ok {
				left = append(left, r.Left)
			}
		}
	}
	if !slices.Equal(left, []int{1, 2, 3}) {
		t.Errorf("the message names roads %v, want [1 2 3]", left)
	}
}

func TestLocal_RequestsEveryServingNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		by := cells.Local()
		serve := func(cursor uint64, err error) (calls *int, end func()) {
			calls = new(int)
			ctx, cancel := context.WithCancel(t.Context())
			go by.Serve(ctx, 1, func(context.Context, cells.ID, []byte) (uint64, error) { *calls++; return cursor, err })
			synctest.Wait()
			return calls, func() { cancel(); synctest.Wait() }
		}
		follower, endFollower := serve(0, errFault)
		owner, endOwner := serve(7, nil)
		if cursor, err := by.Request(t.Context(), 1, nil); cursor != 7 || err != nil || *follower != 1 || *owner != 1 {
			t.Errorf("%d, %v, requests: follower %d, owner %d", cursor, err, *follower, *owner)
		}
		endFollower()
		if cursor, err := by.Request(t.Context(), 1, nil); cursor != 7 || err != nil || *follower != 1 {
			t.Errorf("%d, %v, %d requests of an ended node", cursor, err, *follower-1)
		}
		endOwner()
		if cursor, err := by.Request(t.Context(), 1, nil); err == nil || *owner != 2 {
			t.Errorf("%d, %v, %d requests of an ended node", cursor, err, *owner-2)
		}
	})
}

// Packets of one tick are one call, but a packet that fails the call fails alone.
func TestReceive_IsolatesFailingPacket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		by := cells.Local()
		hub := newTown(t, 1, cells.Options[word]{Links: func(m *word, _ func(id *store.ID)) {
			if m.Text == "poison" {
				panic(m.Text)
			}
		}}).from(1)
		n := start(t, hub, locked{world.Memory()}, by)
		synctest.Wait()
		cursors, errs := make([]uint64, 8), make([]error, 8)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				from := newPost(t, cells.Options[word]{})
				text := "hello"
				if i == 3 {
					text = "poison"
				}
				from.mustSend(t, 1, word{N: 1, Road: cells.Ref[road]{Cell: from.self}, Text: text})
				cursors[i], errs[i] = by.Request(t.Context(), 1, from.out.Pack(1, 0))
			})
		}
		all.Wait()
		for i, err := range errs {
			if (err == nil && cursors[i] == 1) != (i != 3) {
				t.Errorf("packet %d: cursor %d, %v", i, cursors[i], err)
			}
		}
		if why := n.world.Status().Halted; why != "" {
			t.Error(why)
		}
		noError(t, n.kill(t))
	})
}

// A vouching transport names the sender of every packet.
type vouching struct {
	cells.Transport
	from cells.ID
}

func (v *vouching) Serve(ctx context.Context, cell cells.ID, answer func(ctx context.Context, from cells.ID, packet []byte) (uint64, error)) error {
	return v.Transport.Serve(ctx, cell, func(ctx context.Context, _ cells.ID, packet []byte) (uint64, error) {
		return answer(ctx, v.from, packet)
	})
}

func TestRun_DropsForgedPackets(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		by := &vouching{Transport: b.by}
		from := newPost(t, cells.Options[word]{})
		b.ids[0] = from.self
		b.receive(by)
		from.mustSend(t, b.ids[1], word{})
		packet := from.out.Pack(b.ids[1], 0)
		for i, sender := range []cells.ID{b.ids[1], from.self + 1, from.self} {
			synctest.Wait()
			by.from = sender
			cursor, err := b.by.Request(t.Context(), b.ids[1], packet)
			if is := sender == from.self; (err == nil) != is || (cursor == 1) != is {
				t.Errorf("sender %v: %d, %v", sender, cursor, err)
			}
			if n := b.hearer.out.Forged(); n != uint64(min(i+1, 2)) {
				t.Errorf("Forged: got %d, want %d", n, min(i+1, 2))
			}
		}
	})
}

// A new leader sends although no tick follows the takeover: no call arrives, with Hz 0.
func TestRun_SendsAfterTakeover(t *testing.T) {
	for name, do := range map[string]func(b *two, open func(version string, by cells.Transport) *node) (leader *node){
		"of a dead leader": func(b *two, open func(string, cells.Transport) *node) *node {
			first := open("town", nil)
			b.resume(first)
			second := open("town", b.by)
			noError(b, first.kill(b))
			return second
		},
		"by a version that waits": func(b *two, open func(string, cells.Transport) *node) *node {
			first := open("town", nil)
			b.resume(first)
			second := open("next", b.by)
			noError(b, first.world.Handoff(b.Context(), "next"))
			noError(b, first.kill(b))
			return second
		},
		"by a leader that waited": func(b *two, open func(string, cells.Transport) *node) *node {
			first, second := open("town", b.by), open("next", nil)
			b.resume(first)
			noError(b, first.world.Handoff(b.Context(), "next"))
			time.Sleep(time.Second)
			b.resume(second)
			noError(b, second.world.Handoff(b.Context(), "town"))
			noError(b, second.kill(b))
			return first
		},
	} {
		t.Run(name, func(t *testing.T) {
			withTwo(t, func(t *testing.T, b *two) {
				b.receive(b.by)
				log := world.Memory()
				leader := do(b, func(version string, by cells.Transport) *node {
					g := newTown(t, 1, cells.Options[word]{}).from(b.ids[0], road{To: b.ids[1], Left: words, PerTick: words / 2})
					g.hz, g.version, g.wait = 0, version, true
					n := start(t, g, log, by)
					time.Sleep(time.Second)
					return n
				})
				half := words / 2
				if name == "by a leader that waited" {
					half = words
				}
				until(t, "the words", func() bool { last, _ := b.heard(); return last >= uint64(half) })
				noError(t, leader.kill(t))
			})
		})
	}
}

// resume submits a call that changes nothing, so that a tick runs.
func (b *two) resume(n *node) {
	b.submit(n, func(q store.Queue) { n.out.Resume(q, b.ids[1]) })
}

// A serving transport counts the nodes that serve a cell.
type serving struct {
	cells.Transport
	nodes atomic.Int64
}

func (s *serving) Serve(ctx context.Context, cell cells.ID, answer func(ctx context.Context, from cells.ID, packet []byte) (uint64, error)) error {
	s.nodes.Add(1)
	defer s.nodes.Add(-1)
	return s.Transport.Serve(ctx, cell, answer)
}

// Only the leader serves the cell, so without a leader a request ends at once.
func TestRun_ServesWhileLeading(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		log := world.Memory()
		var nodes [2]*node
		var by [2]*serving
		for i := range nodes {
			by[i] = &serving{Transport: b.by}
			nodes[i] = start(t, newTown(t, 1, cells.Options[word]{}).from(b.ids[1]), log, by[i])
		}
		for range 3 {
			until(t, "one node serves", func() bool { return by[0].nodes.Load()+by[1].nodes.Load() == 1 })
			time.Sleep(10 * time.Second)
			leads := 0
			for i, n := range nodes {
				is := n.world.Status().Leader
				if (by[i].nodes.Load() == 1) != is {
					t.Errorf("node %d: leads %t, serves %d times", i, is, by[i].nodes.Load())
				}
				if is {
					leads = i
				}
			}
			noError(t, nodes[leads].world.Handoff(t.Context(), "town"))
		}
		for _, n := range nodes {
			noError(t, n.kill(t))
		}
	})
}

// Messages of a tick without a record wait for one tick, not for Options.Idle.
func TestRun_NudgesUnrecordedTicks(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		b.fault = func(g *town, tick uint64) error {
			for _, r := range g.roads.All() {
				if r.Left = 0; tick == 30 {
					r.Left = 7
				}
			}
			return nil
		}
		b.receive(b.by)
		b.sender = start(b, b.towns[0](), b.logs[0], nil)
		time.Sleep(100 * time.Millisecond) // the first ticks send before the fault
		b.sender.runOutbox(b.by)
		until(t, "the words", b.heardUpTo(8))
		if tick := b.sender.world.Status().Tick; tick > 40 {
			t.Errorf("words of tick 31 arrived in tick %d", tick)
		}
	})
}
