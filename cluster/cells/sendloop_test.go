package cells_test

import (
	"context"
	"errors"
	"fmt"
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
	answer func(ctx context.Context) error
}

func (a *counting) Send(ctx context.Context, _, _ cells.ID, _ string, _ []byte) error {
	a.times.Add(1)
	return a.answer(ctx)
}

func TestRun_LimitsRequests(t *testing.T) {
	for _, c := range []struct {
		name     string
		answer   func(ctx context.Context) error
		min, max int64
	}{
		{"errors", func(context.Context) error { return errLost }, 590, 620},
		{"no answer", func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }, 190, 220},
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

// A handing transport lets a test deliver packets.
type handing struct {
	cells.Transport
	deliver func(ctx context.Context, from cells.ID, packets [][]byte) error
}

func (h *handing) Receive(ctx context.Context, _ cells.ID, _ string, deliver func(ctx context.Context, from cells.ID, packets [][]byte) error) error {
	h.deliver = deliver
	<-ctx.Done()
	return context.Cause(ctx)
}

// Otherwise the mailbox would erase messages that the log does not have. That holds for messages
// received before, too: a node that lost the log may have an old cursor.
func TestReceive_ReturnsAfterAppend(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		l := &kit.FaultyLog{Log: b.logs[1]}
		b.logs[1] = l
		from := newPost(t, cells.Options[word]{})
		by := &handing{Transport: b.by}
		b.receive(by)
		var packet []byte
		for tick := range uint64(3) {
			from.mustSend(t, b.ids[1], word{N: tick}, word{N: tick})
			synctest.Wait()
			packet = from.out.Pack(b.ids[1], 2*tick)
			for range 2 {
				err := by.deliver(t.Context(), from.self, [][]byte{packet})
				if cursor := b.hearer.pair(t, from.self).Received; cursor != 2*tick+2 || err != nil {
					t.Errorf("tick %d: %d, %v, want %d", tick, cursor, err, 2*tick+2)
				}
			}
		}
		l.SetFaults(0, 1<<30, false)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := by.deliver(ctx, from.self, [][]byte{packet}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a node that cannot append: %v", err)
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

// Two nodes may receive at the same time. Packets come in order, again after an error or an end of
// Receive, and not after a success.
func TestLocal_KeepsPacketsUntilDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		by := cells.Local()
		send := func(from cells.ID, text string) error {
			return by.Send(t.Context(), from, 1, "mail", []byte(text))
		}
		if err := send(2, "early"); !errors.Is(err, cells.ErrUnreachable) {
			t.Errorf("Send before Receive: %v", err)
		}
		receive := func(got *[]string, result func() error) (end func()) {
			ctx, cancel := context.WithCancel(t.Context())
			var ended sync.WaitGroup
			ended.Go(func() {
				err := by.Receive(ctx, 1, "mail", func(_ context.Context, from cells.ID, packets [][]byte) error {
					for _, p := range packets {
						*got = append(*got, fmt.Sprint(uint64(from), string(p)))
					}
					return result()
				})
				if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
			synctest.Wait()
			return func() { cancel(); ended.Wait() }
		}
		var failed, first, second, other []string
		end := receive(&failed, func() error { return errFault })
		noError(t, errors.Join(send(2, "a"), send(2, "b")))
		synctest.Wait()
		end()
		if len(failed) < 1 || failed[0] != "2a" {
			t.Errorf("got %v", failed)
		}
		noError(t, send(3, "c"))
		endFirst := receive(&first, func() error { return nil })
		synctest.Wait()
		endSecond := receive(&second, func() error { return nil })
		if err := by.Send(t.Context(), 2, 1, "another outbox", nil); !errors.Is(err, cells.ErrUnreachable) {
			t.Errorf("Send to another outbox: %v", err)
		}
		noError(t, send(2, "d"))
		synctest.Wait()
		endFirst()
		noError(t, send(2, "e"))
		synctest.Wait()
		endSecond()
		slices.Sort(first)
		if !slices.Equal(first, []string{"2a", "2b", "2d", "3c"}) && !slices.Equal(first, []string{"2a", "2b", "3c"}) {
			t.Errorf("the first node got %v", first)
		}
		if slices.Contains(second, "2a") || second[len(second)-1] != "2e" {
			t.Errorf("the second node got %v", second)
		}
		if receive(&other, func() error { return nil })(); len(other) > 0 {
			t.Errorf("got erased packets %v", other)
		}
		for range 1 << 16 {
			noError(t, send(2, ""))
		}
		if err := send(2, ""); err == nil || !strings.Contains(err.Error(), "start the cell") || send(3, "") != nil {
			t.Errorf("Send to a full mailbox: %v", err)
		}
	})
}

func TestLocal_ReceiveWaitsForDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		by := cells.Local()
		ctx, cancel := context.WithCancel(t.Context())
		delivered, returned := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(returned)
			_ = by.Receive(ctx, 1, "mail", func(context.Context, cells.ID, [][]byte) error {
				<-delivered
				return nil
			})
		}()
		synctest.Wait()
		noError(t, by.Send(t.Context(), 2, 1, "mail", nil))
		synctest.Wait()
		cancel()
		synctest.Wait()
		select {
		case <-returned:
			t.Error("Receive returns while it delivers")
		default:
		}
		close(delivered)
		<-returned
	})
}

// sendEach sends messages of a cell to cell 1, each in its packet.
func sendEach(t *testing.T, by cells.Transport, from cells.ID, texts ...string) {
	t.Helper()
	p := newPost(t, cells.Options[word]{}, from)
	for i, text := range texts {
		p.mustSend(t, 1, word{N: uint64(i + 1), Road: cells.Ref[road]{Cell: from}, Text: text})
		noError(t, by.Send(t.Context(), from, 1, "message", p.out.Pack(1, uint64(i))))
	}
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
		for from := range cells.ID(8) {
			third := "hello"
			if from == 3 {
				third = "poison"
			}
			sendEach(t, by, from+2, "hello", "hello", third, "hello")
		}
		for _, wait := range []time.Duration{100 * time.Millisecond, 10 * time.Second} { // before other packets are tried again
			time.Sleep(wait)
			for from := range cells.ID(8) {
				want := uint64(4)
				if from == 3 {
					want = 2
				}
				if cursor := n.pair(t, from+2).Received; cursor != want {
					t.Errorf("cell %d: got cursor %d after %v more, want %d", from, cursor, wait, want)
				}
			}
		}
		if why := n.world.Status().Halted; why != "" || !hasProblem(hub.out, "Options.Links: panic") {
			t.Errorf("halted: %s, problems %v", why, hub.out.Problems())
		}
		noError(t, n.kill(t))
	})
}

// Cells that send much delay only themselves, because a call has a share of each sender.
func TestReceive_SharesCallsBetweenSenders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const floods, packets, quiet = 20, 16, 100
		by, heard := cells.Local(), make(map[cells.ID][]uint64) // ticks
		hub := newTown(t, 1, cells.Options[word]{}).from(1)
		hub.hears = func(_ *town, m *word, tick uint64) error {
			if uint64(len(heard[m.Road.Cell])) < m.N { // a shadow run repeats ticks
				heard[m.Road.Cell] = append(heard[m.Road.Cell], tick)
			}
			return nil
		}
		n := start(t, hub, locked{world.Memory()}, by)
		synctest.Wait()
		for from := range cells.ID(floods) {
			sendEach(t, by, from+2, slices.Repeat([]string{strings.Repeat("much", 16<<10)}, packets)...)
		}
		sendEach(t, by, quiet, "little")
		time.Sleep(10 * time.Second)
		if got := heard[quiet]; len(heard) != floods+1 || len(got) != 1 || got[0] > heard[2][0]+floods/2 {
			t.Errorf("%d senders; got ticks %v for a message next to %d floods from tick %v on", len(heard), got, floods, heard[2])
		}
		for from := range cells.ID(floods) {
			if got := heard[from+2]; len(got) != packets {
				t.Errorf("cell %v: got %d messages, want %d", from+2, len(got), packets)
			}
		}
		noError(t, n.kill(t))
	})
}

func TestRun_DropsForgedPackets(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		from := newPost(t, cells.Options[word]{})
		b.receive(b.by)
		from.mustSend(t, b.ids[1], word{})
		packet := from.out.Pack(b.ids[1], 0)
		synctest.Wait()
		for i, sender := range []cells.ID{b.ids[1], from.self + 1, from.self} {
			noError(t, b.by.Send(t.Context(), sender, b.ids[1], "message", packet))
			time.Sleep(time.Second)
			if cursor, says := b.hearer.pair(t, from.self).Received, fmt.Sprint(b.hearer.out.Problems()); (cursor == 1) != (i == 2) || strings.Count(says, "forged packet") != min(i+1, 2) {
				t.Errorf("sender %v: cursor %d, problems %s", sender, cursor, says)
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
	b.submit(n, func(q store.Queue) { n.out.Acked(q, 77, 0) })
}

// A serving transport counts the nodes that receive.
type serving struct {
	cells.Transport
	nodes atomic.Int64
}

func (s *serving) Receive(ctx context.Context, cell cells.ID, outbox string, deliver func(ctx context.Context, from cells.ID, packets [][]byte) error) error {
	s.nodes.Add(1)
	defer s.nodes.Add(-1)
	return s.Transport.Receive(ctx, cell, outbox, deliver)
}

func TestRun_ReceivesWhileLeading(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		log := world.Memory()
		var nodes [2]*node
		var by [2]*serving
		for i := range nodes {
			by[i] = &serving{Transport: b.by}
			nodes[i] = start(t, newTown(t, 1, cells.Options[word]{}).from(b.ids[1]), log, by[i])
		}
		for range 3 {
			until(t, "one node receives", func() bool { return by[0].nodes.Load()+by[1].nodes.Load() == 1 })
			time.Sleep(10 * time.Second)
			leads := 0
			for i, n := range nodes {
				is := n.world.Status().Leader
				if (by[i].nodes.Load() == 1) != is {
					t.Errorf("node %d: leads %t, receives %d times", i, is, by[i].nodes.Load())
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
		b.hears = func(_ *town, m *word, _ uint64) error {
			if s := b.sender.world.Status(); m.N > 7 && s.Tick-uint64(s.Unrecorded) < 31 {
				t.Errorf("word %d of tick 31 arrived; the log ends at tick %d", m.N, s.Tick-uint64(s.Unrecorded))
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
