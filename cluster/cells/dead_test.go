package cells_test

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"handloom/cluster/cells"
	"handloom/internal/entrance"
	"handloom/store"
	"handloom/world"
)

// The cell continues, and the texts are equal on every node.
func TestDeadLetters_HaveFailingMessage(t *testing.T) {
	for _, c := range []struct {
		name        string
		tries, want int
		fail        func(m *word) error
		text        string
	}{
		{"error", 0, 3, func(*word) error { return errFault }, "program fault"},
		{"panic", 1, 1, func(*word) error { panic(errFault) }, "panic: program fault"},
		{"address", 2, 2, func(m *word) error { return fmt.Errorf("word at %p", m) }, "word at 0x..."},
		{"panic in a task", 0, 3, func(m *word) error {
			return fmt.Errorf("task: %w", &store.PanicError{Value: "index", Stack: []byte("/home/me/build.go:7")})
		}, "panic: index"},
	} {
		t.Run(c.name, func(t *testing.T) {
			withTwo(t, func(t *testing.T, b *two) {
				b.options.Tries = c.tries
				failed := make(map[uint64]bool)
				b.hears = func(_ *town, m *word, tick uint64) error {
					if m.N != 30 {
						return nil
					}
					failed[tick] = true
					return c.fail(m)
				}
				b.send()
				b.receive(b.by)
				until(t, "all words", b.allHeard)
				if len(failed) != c.want {
					t.Errorf("the word failed %d ticks, want %d", len(failed), c.want)
				}
				if _, wrong := b.heard(); wrong != 1 { // 31 follows 29
					t.Errorf("%d unexpected words, want 1", wrong)
				}
				b.hearer.look(t, func() {
					for _, d := range b.hearer.out.DeadLetters().All() {
						if d.From != b.ids[0] || d.Number != 30 || !failed[d.Tick] || d.Error != c.text || d.Message.N != 30 {
							t.Errorf("got %+v", *d)
						}
					}
					if n := b.hearer.out.DeadLetters().Len(); n != 1 {
						t.Errorf("%d dead letters, want 1", n)
					}
				})
			})
		})
	}
}

// A tick that fails without messages halts the world, as before.
func TestDeadLetters_NotForOtherFaults(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		b.send()
		towns := b.towns[1]
		b.towns[1] = func() *town {
			g := towns()
			g.fault = func(g *town, tick uint64) error {
				if tick == 10 {
					return errFault
				}
				return nil
			}
			return g
		}
		b.receive(b.by)
		if tick := b.halted(); tick != 10 {
			t.Errorf("halted at tick %d, want 10", tick)
		}
		b.hearer = nil
	})
}

// Acknowledgements are input of the sender's ticks, too.
func TestDeadLetters_CopyStateOnlyForMessages(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		b.send()
		b.receive(b.by)
		until(t, "all words", b.allHeard)
		for _, n := range []*node{b.sender, b.hearer} {
			n.look(t, func() {
				if n.inputs == 0 || (n.saves > 0) != (n == b.hearer) {
					t.Errorf("receives=%t: %d copies in %d ticks with input", n == b.hearer, n.saves, n.inputs)
				}
			})
		}
	})
}

// A depot has two outboxes, one inside the tick of the other, and repeats ticks as a World does.
type depot struct {
	*store.Store
	out  [2]*cells.Outbox[int]
	got  *store.Table[parcel]
	tick uint64
	bad  func(m int, tick uint64) bool
}

type parcel struct {
	Outbox int
	From   cells.ID
	Value  int
}

func newDepot(t testing.TB, o cells.Options[int]) *depot {
	d := &depot{Store: store.New(store.Options{})}
	for i := range d.out {
		var err error
		o.Name = fmt.Sprint("outbox ", i)
		d.out[i], err = cells.New(d.Store, o)
		noError(t, err)
	}
	d.got = store.Register(d.Store, store.TableOptions[parcel]{})
	noError(t, errorOf(d.Frame(context.Background(), func(_ context.Context, w *store.Writer) error {
		return errors.Join(d.out[0].Init(w, 1), d.out[1].Init(w, 1))
	})))
	return d
}

func (d *depot) live(ctx context.Context, w *store.Writer, t world.Tick) error {
	bad := false
	for i, o := range d.out {
		for from, m := range o.Received() {
			d.got.Insert(w, parcel{i, from, *m})
			bad = bad || d.bad(*m, t.Number)
		}
	}
	if bad {
		return errFault
	}
	return nil
}

// run runs one tick and returns the number of its runs.
func (d *depot) run(t rapid.TB, record func(q store.Queue)) (runs int) {
	ctx := context.Background()
	var before store.Checkpoint
	noError(t, d.Checkpoint(ctx, &before))
	d.tick++
	epoch, saved := d.Epoch(), false
	redo := &entrance.Redo{
		HasInput: func(is func(table string) bool) bool { return is("outbox 1 arrived") }, // the inner one
		Save:     func(context.Context) bool { saved = saved || d.Epoch() == epoch; return saved },
	}
	for {
		noError(t, d.Inbox(func(q store.Queue) error { record(q); return nil }))
		runs++
		_, err := d.Frame(entrance.WithRedo(ctx, redo), func(ctx context.Context, w *store.Writer) error {
			return d.out[0].Tick(d.out[1].Tick(d.live))(ctx, w, world.Tick{Number: d.tick})
		})
		if err == nil {
			return runs
		}
		if runs > 100 || !redo.Again(err) {
			t.Fatal(err)
		}
		noError(t, d.Rollback(ctx, &before))
	}
}

// Each pair has its good messages in order and once, and its bad ones as dead letters, for any
// messages that fail for ever or for some ticks. A tick runs at most as often as a search by halves
// in both outboxes needs.
func TestDeadLetters_AgainstModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tries, limit := rapid.IntRange(1, 3).Draw(r, "tries"), rapid.SampledFrom([]int{2, 1000}).Draw(r, "limit")
		d := newDepot(t, cells.Options[int]{Tries: tries, Limit: limit})
		forever := func(m int) bool { return m%7 == 0 }
		first := make(map[int]uint64) // ticks that received a value
		d.bad = func(m int, tick uint64) bool {
			if first[m] == 0 {
				first[m] = tick
			}
			return forever(m) || m%3 == 0 && tick < first[m]+uint64(tries)-1
		}
		type pair struct {
			outbox int
			from   cells.ID
		}
		sent := make(map[pair][]int)
		var pairs []pair
		for i := range d.out {
			for from := range cells.ID(3) {
				p := pair{i, from + 2}
				pairs = append(pairs, p)
				sent[p] = rapid.SliceOfN(rapid.IntRange(1, 30), 0, 12).Draw(r, "messages")
			}
		}
		dead := make(map[pair][]int)
		waiting := func() (n int) {
			for p, all := range sent {
				n += len(all) - int(d.out[p.outbox].Cursor(p.from))
			}
			return n
		}
		for ticks := 0; waiting() > 0; ticks++ {
			if ticks > 300 {
				r.Fatalf("%d messages wait for ever", waiting())
			}
			order := rapid.Permutation(pairs).Draw(r, "order")
			n := waiting()
			runs := d.run(r, func(q store.Queue) {
				for _, p := range order {
					for number := int(d.out[p.outbox].Cursor(p.from)) + 1; number <= len(sent[p]); number++ {
						d.out[p.outbox].Arrived(q, p.from, uint64(number), sent[p][number-1])
					}
				}
			})
			if most := 2 * (bits.Len(uint(n)) + 3); runs > most {
				r.Fatalf("a tick of %d messages ran %d times, want at most %d", n, runs, most)
			}
			for i, o := range d.out { // the program empties the dead letters now and then
				letters := o.DeadLetters()
				if letters.Len() > limit {
					r.Fatalf("%d dead letters, want at most %d", letters.Len(), limit)
				}
				if letters.Len() == limit && ticks%3 == 0 || waiting() == 0 {
					for _, l := range letters.All() {
						dead[pair{i, l.From}] = append(dead[pair{i, l.From}], l.Message)
						if l.Error != "program fault" {
							r.Fatalf("dead letter %+v", *l)
						}
					}
					noError(r, errorOf(d.Frame(context.Background(), func(_ context.Context, w *store.Writer) error {
						letters.Clear(w)
						return nil
					})))
				}
			}
		}
		for _, p := range pairs {
			var got, good, bad []int
			for _, l := range d.got.All() {
				if l.Outbox == p.outbox && l.From == p.from {
					got = append(got, l.Value)
				}
			}
			for _, m := range sent[p] {
				if forever(m) {
					bad = append(bad, m)
				} else {
					good = append(good, m)
				}
			}
			if !slices.Equal(got, good) || !slices.Equal(dead[p], bad) {
				r.Fatalf("%v: received %v, dead %v; want %v and %v", p, got, dead[p], good, bad)
			}
		}
	})
}
