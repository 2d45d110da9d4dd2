package cells_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"handloom/cluster/cells"
	"handloom/store"
	"handloom/world"
)

var errFault = errors.New("a fault of the program")

// two are a cell that sends 100 words, and one that hears them.
type two struct {
	*testing.T
	by     cells.Transport
	ids    [2]cells.ID
	logs   [2]world.Log
	towns  [2]func() *town
	sender *node
	hearer *node
	hears  func(m *word, tick uint64) error
}

const words = 100

func newTwo(t *testing.T) *two {
	b := &two{T: t, by: cells.Local(), ids: [2]cells.ID{cells.NewID(), cells.NewID()}}
	for i := range b.logs {
		b.logs[i] = locked{world.Memory()}
	}
	b.towns[0] = func() *town {
		return newTown(t, 1, cells.Options[word]{}).from(b.ids[0], road{To: b.ids[1], Left: words, PerTick: 7})
	}
	b.towns[1] = func() *town {
		g := newTown(t, 1, cells.Options[word]{}).from(b.ids[1])
		g.hears = b.hears
		return g
	}
	return b
}

// withTwo runs a test in a bubble of synctest, and kills both cells at the end.
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

// hear opens the cell that hears; by nil keeps it from hearing.
func (b *two) receive(by cells.Transport) { b.hearer = start(b, b.towns[1](), b.logs[1], by) }

// heard returns the number of the last word that was heard, and how many were not those
// that were to come.
func (b *two) heard() (last uint64, wrong int) {
	b.hearer.look(b, func() {
		if h := b.hearer.of(b.ids[0]); h != nil {
			last, wrong = h.Next-1, h.Wrong
		}
	})
	return last, wrong
}

func (b *two) allHeard() bool {
	last, _ := b.heard()
	return last == words && b.sender.pair(b, b.ids[1]).Acked == words
}

// halted waits until the cell that hears has halted, and returns the tick that failed.
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

// A tick that fails, and is played without its input, has received nothing: its messages
// come once more, and no other comes twice.
func TestMessagesOfASkippedInputComeAgain(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		failed := uint64(math.MaxUint64)
		b.hears = func(m *word, tick uint64) error {
			if m.N == 30 && tick <= failed {
				return errFault
			}
			return nil
		}
		b.send()
		b.receive(b.by)
		failed = b.halted()
		b.skipInput(failed)
		b.receive(b.by)
		until(t, "all words", b.allHeard)
		if _, wrong := b.heard(); wrong > 0 {
			t.Errorf("%d words came twice, or not in their order", wrong)
		}
	})
}

// A message that makes every tick fail is skipped by its number, and no other is.
func TestAMessageThatHaltsIsSkippedByItsNumber(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		b.hears = func(m *word, _ uint64) error {
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
		b.receive(nil)
		b.submit(b.hearer, func(q store.Queue) { b.hearer.out.Skip(q, b.ids[0], 30, 30) })
		if last, wrong := b.heard(); last >= 30 || wrong > 0 {
			t.Fatalf("up to %d was heard, %d wrong", last, wrong)
		}
		b.hearer.carry(b.by)
		until(t, "all words", b.allHeard)
		if _, wrong := b.heard(); wrong != 1 { // 31 behind 29
			t.Errorf("%d words were not those that were to come; one is left out", wrong)
		}
		b.hearer.look(t, func() {
			if n := b.hearer.of(b.ids[0]).Count; n != words-1 {
				t.Errorf("%d words were heard, want %d", n, words-1)
			}
		})
	})
}

// What a tick that failed has sent, which readers see, is not shipped.
func TestATickThatFailsSendsNothing(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		make := b.towns[0]
		b.towns[0] = func() *town {
			g := make()
			g.fault = func(_ *town, tick uint64) error {
				if tick == 3 {
					return errFault
				}
				return nil
			}
			return g
		}
		b.send()
		until(t, "the world halts", func() bool { return b.sender.world.Status().Halted != "" })
		b.receive(b.by)
		time.Sleep(10 * time.Second)
		if sent := b.sender.pair(t, b.ids[1]).Sent; sent != 21 {
			t.Errorf("three ticks sent %d words, want 21", sent)
		}
		if last, _ := b.heard(); last > 14 {
			t.Errorf("word %d was heard, and 14 were sent in ticks that did not fail", last)
		}
		_ = b.sender.kill(t)
		b.sender = nil
	})
}

// backup opens a town on a log of its own, in the state of an image.
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

// A receiver that was restored lacks what its sender has erased: the pair stops, until an
// operator says that those are lost.
func TestARestoredReceiverStopsThePair(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		b.send()
		b.receive(b.by)
		until(t, "some words", b.heardUpTo(20))
		image := b.export(b.hearer)
		until(t, "more words", b.heardUpTo(60))
		_ = b.hearer.kill(t)
		b.hearer = b.backup(1, image)
		until(t, "the pair stops", func() bool { return errors.Is(b.sender.pair(t, b.ids[1]).Err, cells.ErrGap) })
		cursor, erased := b.hearer.pair(t, b.ids[0]).Received, b.sender.pair(t, b.ids[1]).Acked
		if cursor >= erased {
			t.Fatalf("there is no gap: %d were received, %d are erased", cursor, erased)
		}
		b.submit(b.hearer, func(q store.Queue) { b.hearer.out.Skip(q, b.ids[0], cursor+1, erased) })
		b.submit(b.sender, func(q store.Queue) { b.sender.out.Resume(q, b.ids[1]) })
		until(t, "all words", b.allHeard)
		if _, wrong := b.heard(); wrong != 1 {
			t.Errorf("%d words were not those that were to come; one gap is left out", wrong)
		}
	})
}

// A sender that was restored, and has sent less than was received, stops.
func TestARestoredSenderStopsThePair(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		make := b.towns[0]
		b.send()
		b.receive(b.by)
		until(t, "some words", b.heardUpTo(20))
		image := b.export(b.sender)
		until(t, "all words", b.allHeard)
		_ = b.sender.kill(t)
		b.towns[0] = func() *town {
			g := make()
			g.fault = func(g *town, _ uint64) error { // it sends a word, and no more
				for _, r := range g.roads.All() {
					r.Left = min(r.Left, 1)
					if r.Next > words/2 {
						r.Left = 0
					}
				}
				return nil
			}
			return g
		}
		b.sender = b.backup(0, image)
		until(t, "the pair stops", func() bool { return errors.Is(b.sender.pair(t, b.ids[1]).Err, cells.ErrGap) })
		if last, wrong := b.heard(); last != words || wrong > 0 {
			t.Errorf("up to %d was heard, %d wrong", last, wrong)
		}
	})
}

// astray takes every parcel to one cell.
type astray struct {
	cells.Transport
	to cells.ID
}

func (a astray) Request(ctx context.Context, _ cells.ID, packet []byte) (uint64, error) {
	return a.Transport.Request(ctx, a.to, packet)
}

// A parcel that comes to another cell than the one it is for is not taken there.
func TestAParcelThatGoesAstrayIsNotTaken(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		other := cells.NewID()
		wrong := start(t, newTown(t, 1, cells.Options[word]{}).from(other), locked{world.Memory()}, b.by)
		b.receive(b.by)
		straight := b.by
		b.by = nil
		b.send()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = b.sender.out.Run(ctx, b.sender.world, astray{straight, other})
		if pair := wrong.pair(t, b.ids[0]); pair.Received > 0 {
			t.Errorf("%d messages were taken", pair.Received)
		}
		b.sender.carry(straight)
		until(t, "all words", b.allHeard)
		noError(t, wrong.kill(t))
	})
}
