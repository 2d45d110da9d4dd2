package cells_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"handloom/cluster/cells"
	"handloom/store"
	"handloom/world"
)

var errFault = errors.New("program fault")

type two struct {
	*testing.T
	by     cells.Transport
	ids    [2]cells.ID
	logs   [2]world.Log
	towns  [2]func() *town
	sender *node
	hearer *node
	fault  func(g *town, tick uint64) error          // the sender's
	hears  func(g *town, m *word, tick uint64) error // the receiver's

	options cells.Options[word] // the receiver's
}

const words = 100

func newTwo(t *testing.T) *two {
	b := &two{T: t, by: cells.Local(), ids: [2]cells.ID{1, 2}}
	for i := range b.logs {
		b.logs[i] = locked{world.Memory()}
	}
	b.towns[0] = func() *town {
		g := newTown(t, 1, cells.Options[word]{}).from(b.ids[0], road{To: b.ids[1], Left: words, PerTick: 7})
		g.fault = b.fault
		return g
	}
	b.towns[1] = func() *town {
		g := newTown(t, 1, b.options).from(b.ids[1])
		g.hears = b.hears
		return g
	}
	return b
}

func withTwo(t *testing.T, test func(t *testing.T, b *two)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newTwo(t)
		test(t, b)
		for _, n := range []*node{b.sender, b.hearer} {
			if n != nil {
				noError(t, n.kill(t))
			}
		}
	})
}

func (b *two) send() { b.sender = start(b, b.towns[0](), b.logs[0], b.by) }

// receive runs no outbox if by is nil.
func (b *two) receive(by cells.Transport) { b.hearer = start(b, b.towns[1](), b.logs[1], by) }

func (b *two) heard() (last uint64, wrong int) {
	b.hearer.look(b, func() {
		if h := b.hearer.heardFrom(b.ids[0]); h != nil {
			last, wrong = h.Next-1, h.Wrong
		}
	})
	return last, wrong
}

func (b *two) allHeard() bool {
	last, _ := b.heard()
	return last == words && b.sender.pair(b, b.ids[1]).Acked == words
}

func (b *two) halted() uint64 {
	b.Helper()
	until(b, "the world halts", func() bool { return b.hearer.world.Status().Halted != "" })
	err := b.hearer.kill(b)
	failed := new(world.TickError)
	if !errors.As(err, &failed) || !errors.Is(err, errFault) {
		b.Fatalf("the world ended with %v", err)
	}
	return failed.Tick
}

func (b *two) skipInput(tick uint64) {
	b.Helper()
	noError(b, world.SkipInput(context.Background(), b.logs[1], tick))
}

func (b *two) submit(n *node, record func(q store.Queue)) {
	b.Helper()
	if _, err := n.world.Submit(context.Background(), func(q store.Queue) error { record(q); return nil }); err != nil {
		b.Fatal(err)
	}
}

func TestSkip_DropsFailingMessage(t *testing.T) {
	for name, skip := range map[string]func(b *two){
		"by a call": func(b *two) {
			b.receive(nil)
			b.submit(b.hearer, func(q store.Queue) { b.hearer.out.Skip(q, b.ids[0], 30, 30) })
			if last, wrong := b.heard(); last >= 30 || wrong > 0 {
				b.Fatalf("last word %d, %d wrong", last, wrong)
			}
			b.hearer.runOutbox(b.by)
		},
		"by an option": func(b *two) {
			b.options.Skip = b.ids[0].String() + ":30-30"
			b.receive(b.by)
		},
	} {
		t.Run(name, func(t *testing.T) {
			withTwo(t, func(t *testing.T, b *two) {
				b.options.Tries = -1
				b.hears = func(_ *town, m *word, _ uint64) error {
					if m.N == 30 {
						return errFault
					}
					return nil
				}
				b.send()
				for range 2 {
					b.receive(b.by)
					b.skipInput(b.halted())
				}
				skip(b)
				until(t, "all words", b.allHeard)
				if _, wrong := b.heard(); wrong != 1 { // 31 follows 29
					t.Errorf("%d unexpected words, want 1", wrong)
				}
				b.hearer.look(t, func() {
					if n := b.hearer.heardFrom(b.ids[0]).Count; n != words-1 {
						t.Errorf("%d words were heard, want %d", n, words-1)
					}
				})
			})
		})
	}
}

// Readers see these messages, but they are not sent.
func TestTick_FailedSendsNothing(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		b.fault = func(_ *town, tick uint64) error {
			if tick == 3 {
				return errFault
			}
			return nil
		}
		b.send()
		until(t, "the world halts", func() bool { return b.sender.world.Status().Halted != "" })
		b.receive(b.by)
		time.Sleep(10 * time.Second)
		if sent := b.sender.pair(t, b.ids[1]).Sent; sent != 21 {
			t.Errorf("three ticks sent %d words, want 21", sent)
		}
		if last, _ := b.heard(); last > 14 {
			t.Errorf("last word %d, want at most 14", last)
		}
		_ = b.sender.kill(t)
		b.sender = nil
	})
}

func (b *two) backup(i int, image []byte) *node {
	b.Helper()
	g := b.towns[i]()
	noError(b, g.Load(context.Background(), bytes.NewReader(image)))
	g.init = func(*town, *store.Writer) error { return nil }
	b.logs[i] = locked{world.Memory()}
	return start(b, g, b.logs[i], b.by)
}

func (b *two) export(n *node) []byte {
	b.Helper()
	var image bytes.Buffer
	noError(b, n.world.Export(context.Background(), &image))
	return image.Bytes()
}

func (b *two) heardUpTo(n uint64) func() bool {
	return func() bool {
		last, _ := b.heard()
		return last >= n
	}
}

func (b *two) untilGap(n *node, with cells.ID) (text string) {
	b.Helper()
	until(b, "the pair stops", func() bool {
		err := n.pair(b, with).Err
		if err != nil {
			text = err.Error()
		}
		return errors.Is(err, cells.ErrGap)
	})
	return text
}

// The mailbox has erased messages that the receiver lost. The pair stops until an operator skips
// them.
func TestPair_StopsAfterReceiverRestore(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		b.send()
		b.receive(b.by)
		until(t, "some words", b.heardUpTo(20))
		image := b.export(b.hearer)
		until(t, "more words", b.heardUpTo(60))
		_ = b.hearer.kill(t)
		b.hearer = b.backup(1, image)
		text := b.untilGap(b.hearer, b.ids[0])
		cursor, lost := b.hearer.pair(t, b.ids[0]).Received, uint64(0)
		_, numbers, _ := strings.Cut(text, fmt.Sprintf("received %d, lost up to ", cursor))
		if _, err := fmt.Sscanf(numbers, "%d", &lost); err != nil || lost <= cursor {
			t.Fatalf("received %d, but %s", cursor, text)
		}
		if err := b.sender.pair(t, b.ids[1]).Err; err != nil {
			t.Errorf("the sender's pair: %v", err)
		}
		b.submit(b.hearer, func(q store.Queue) { b.hearer.out.Skip(q, b.ids[0], cursor+1, lost) })
		until(t, "all words", b.allHeard)
		if _, wrong := b.heard(); wrong != 1 {
			t.Errorf("%d unexpected words, want 1", wrong)
		}
		noError(t, b.hearer.pair(t, b.ids[0]).Err)
	})
}

// post sends messages from another cell to the receiver.
func (b *two) post(from *post[word], after uint64) {
	b.Helper()
	noError(b, b.by.Send(b.Context(), from.self, b.ids[1], "message", from.out.Pack(b.ids[1], after)))
}

// A packet ahead of the cursor reports a gap until the cursor moves.
func TestPair_ReportsGapUntilSkip(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		from := newPost(t, cells.Options[word]{})
		b.ids[0] = from.self
		b.receive(b.by)
		for n := range uint64(3) {
			from.mustSend(t, b.ids[1], word{N: n + 1})
		}
		synctest.Wait()
		for _, c := range []struct{ after, cursor uint64 }{{2, 0}, {2, 3}, {0, 3}} {
			b.post(from, c.after)
			time.Sleep(5 * time.Second)
			pair := b.hearer.pair(t, from.self)
			if gap := c.cursor == 0; errors.Is(pair.Err, cells.ErrGap) != gap || pair.Received != c.cursor {
				t.Errorf("packet after %d: pair %+v, want cursor %d", c.after, pair, c.cursor)
			}
			if c.cursor == 0 {
				inputs := b.hearer.inputs
				time.Sleep(time.Minute)
				if n := b.hearer.inputs - inputs; n > 0 {
					t.Errorf("%d ticks record the gap again", n)
				}
				b.submit(b.hearer, func(q store.Queue) { b.hearer.out.Skip(q, from.self, 1, 2) })
			}
		}
	})
}

// A restored sender has sent more messages than were received before.
func TestPair_StopsAtOtherMessage(t *testing.T) {
	for _, skip := range []uint64{4, 5} {
		withTwo(t, func(t *testing.T, b *two) { stopAtOtherMessage(t, b, skip) })
	}
}

func stopAtOtherMessage(t *testing.T, b *two, skip uint64) {
	sender := func(words ...word) *post[word] {
		p := newPost(t, cells.Options[word]{}, b.ids[0])
		p.mustSend(t, b.ids[1], words...)
		return p
	}
	b.receive(b.by)
	first := sender(word{N: 1}, word{N: 2}, word{N: 3})
	restored := sender(word{N: 1}, word{N: 2}, word{N: 33}, word{N: 44}, word{N: 55})
	synctest.Wait()
	for _, c := range []struct {
		from   *post[word]
		after  uint64
		forked bool
	}{{first, 0, false}, {first, 1, false}, {restored, 0, true}, {restored, 3, true}} {
		b.post(c.from, c.after)
		time.Sleep(5 * time.Second)
		if pair := b.hearer.pair(t, b.ids[0]); pair.Received != 3 || errors.Is(pair.Err, cells.ErrGap) != c.forked {
			t.Errorf("pair %+v, want %+v", pair, c)
		}
	}
	b.submit(b.hearer, func(q store.Queue) { b.hearer.out.Skip(q, b.ids[0], skip, skip) })
	time.Sleep(5 * time.Second)
	if pair := b.hearer.pair(t, b.ids[0]); pair.Received != 5 || pair.Err != nil {
		t.Errorf("after Skip of %d: pair %+v", skip, pair)
	}
}

func TestPair_StopsAfterSenderRestore(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		b.send()
		b.receive(b.by)
		until(t, "some words", b.heardUpTo(20))
		image := b.export(b.sender)
		until(t, "all words", b.allHeard)
		_ = b.sender.kill(t)
		b.fault = func(g *town, _ uint64) error {
			for _, r := range g.roads.All() {
				r.Left = min(r.Left, 1)
				if r.Next > words/2 {
					r.Left = 0
				}
			}
			return nil
		}
		b.sender = b.backup(0, image)
		b.untilGap(b.sender, b.ids[1])
		if last, wrong := b.heard(); last != words || wrong > 0 {
			t.Errorf("last word %d, %d wrong", last, wrong)
		}
	})
}

// hasProblem reports whether a problem of the outbox has a text.
func hasProblem[M any](o *cells.Outbox[M], text string) bool {
	return slices.ContainsFunc(o.Problems(), func(err error) bool { return strings.Contains(err.Error(), text) })
}

// The problem of a bad packet has the fix, and words of other cells arrive.
func TestReceive_NamesFixOfBadPacket(t *testing.T) {
	bad := cells.ID(13)
	from := func(b *two, self, to cells.ID, text string) []byte {
		p := newPost(b, cells.Options[word]{}, self)
		p.mustSend(b, to, word{N: 1, Text: text})
		return p.out.Pack(to, 0)
	}
	for _, c := range []struct {
		name   string
		packet func(b *two) []byte
		fix    string
	}{
		{"no packet", func(*two) []byte { return []byte("parcel") }, "end the program"},
		{"a byte less", func(b *two) []byte {
			good := from(b, bad, b.ids[1], "")
			return good[:len(good)-1]
		}, "end the program"},
		{"another version", func(b *two) []byte {
			good := from(b, bad, b.ids[1], "")
			good[3]++
			return good
		}, "give both cells one version"},
		{"another type", func(b *two) []byte {
			p := newPost(b, cells.Options[int]{}, bad)
			p.mustSend(b, b.ids[1], 7)
			return p.out.Pack(b.ids[1], 0)
		}, "hand this cell over"},
		{"another sender", func(b *two) []byte { return from(b, bad+1, b.ids[1], "") }, "end the program"},
		{"another receiver", func(b *two) []byte { return from(b, bad, 99, "") }, "an ID of its own"},
		{"too large", func(b *two) []byte { return from(b, bad, b.ids[1], strings.Repeat("x", 33<<20)) }, store.ErrQueueFull.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			withTwo(t, func(t *testing.T, b *two) {
				b.receive(b.by)
				synctest.Wait()
				noError(t, b.by.Send(t.Context(), bad, b.ids[1], "message", c.packet(b)))
				until(t, "a problem with "+c.fix, func() bool { return hasProblem(b.hearer.out, c.fix) })
				b.send()
				until(t, "all words", b.allHeard)
			})
		})
	}
}

// A message to a cell without a mailbox waits, and others are sent.
func TestRun_NamesMissingMailbox(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		towns := b.towns[0]
		b.towns[0] = func() *town {
			return towns().from(b.ids[0], road{To: 13, Left: 1, PerTick: 1}, road{To: b.ids[1], Left: words, PerTick: 7})
		}
		b.receive(b.by)
		b.send()
		until(t, "all words", b.allHeard)
		if !hasProblem(b.sender.out, "000000000000000d") || !errors.Is(errors.Join(b.sender.out.Problems()...), cells.ErrUnreachable) {
			t.Errorf("got problems %v", b.sender.out.Problems())
		}
	})
}
