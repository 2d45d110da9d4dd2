package cells_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"handloom/cluster/cells"
	"handloom/store"
	"handloom/world"
)

// asked is a Transport that counts what is asked, and answers by a function.
type asked struct {
	cells.Transport
	times  atomic.Int64
	answer func(ctx context.Context) (uint64, error)
}

func (a *asked) Request(ctx context.Context, _ cells.ID, _ []byte) (uint64, error) {
	a.times.Add(1)
	return a.answer(ctx)
}

func TestRun_SendsNothingToAStoppedPair(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		by := &asked{Transport: b.by, answer: func(context.Context) (uint64, error) { return words + 1, nil }}
		b.by = by
		b.send()
		until(t, "the pair stops", func() bool { return b.sender.pair(t, b.ids[1]).Err != nil })
		time.Sleep(time.Second)
		before := by.times.Load()
		time.Sleep(time.Minute)
		if now := by.times.Load(); now != before {
			t.Errorf("%d parcels were sent to a pair that is stopped", now-before)
		}
	})
}

// A cell that does not answer is asked more and more rarely, up to once a second.
func TestRun_AsksRarelyWhileNobodyAnswers(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		by := &asked{Transport: b.by, answer: func(context.Context) (uint64, error) { return 0, errLost }}
		b.by = by
		b.send()
		time.Sleep(10 * time.Minute)
		if n := by.times.Load(); n < 590 || n > 620 {
			t.Errorf("asked %d times in 600 s", n)
		}
	})
}

// An answer that never comes is not waited for.
func TestRun_AsksAgainWithoutAnAnswer(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		straight := b.by
		by := &asked{Transport: straight, answer: func(ctx context.Context) (uint64, error) {
			<-ctx.Done()
			return 0, context.Cause(ctx)
		}}
		b.by = by
		b.send()
		until(t, "a second parcel", func() bool { return by.times.Load() > 1 })
	})
}

// The answer to a parcel is the cursor after it, so that the sender need not ask again.
func TestRun_AnswersTheCursorAfterTheParcel(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		from := newPost(t, cells.Options[word]{})
		b.ids[0] = from.self
		b.receive(b.by)
		for tick := range uint64(3) {
			from.mustSend(t, b.ids[1], word{N: tick}, word{N: tick})
			synctest.Wait() // until the hearer serves
			if cursor, err := b.by.Request(t.Context(), b.ids[1], from.out.Pack(b.ids[1], 2*tick)); cursor != 2*tick+2 || err != nil {
				t.Errorf("tick %d: %d, %v, want %d", tick, cursor, err, 2*tick+2)
			}
		}
	})
}

func TestRun_NeedsAnID(t *testing.T) {
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

// What is said of a cell that nothing went to and nothing came from changes nothing.
func TestNotices_OfAnUnknownCellMakeNoPair(t *testing.T) {
	a := newPost(t, cells.Options[int]{})
	for range 2 {
		a.tell(t, func(q store.Queue) {
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

// A convoy names items by a slice.
type convoy struct{ Items []store.ID }

// A message may name items that are made in the same tick, behind a slice.
func TestSend_ResolvesHandlesBehindLinks(t *testing.T) {
	p := newOutbox(t, cells.Options[convoy]{
		Clone: func(dst, src *convoy) { dst.Items = slices.Clone(src.Items) },
		Links: func(m *convoy, visit func(id *store.ID)) {
			for i := range m.Items {
				visit(&m.Items[i])
			}
		},
	})
	roads := store.Register(p.Store, store.TableOptions[road]{Name: "road"})
	p.begin(t)
	noError(t, errorOf(p.tick(func(q store.Queue) {
		p.out.Send(q, p.self, convoy{[]store.ID{roads.Emplace(q, road{Left: 1}).ID, roads.Emplace(q, road{Left: 2}).ID}})
	})))
	p.submit(t, p.out.Pack(p.self, 0))
	var left []int
	for _, m := range p.mustSend(t, p.self) {
		for _, id := range m.Items {
			if r, ok := roads.Get(store.Handle[road]{ID: id}); ok {
				left = append(left, r.Left)
			}
		}
	}
	if !slices.Equal(left, []int{1, 2}) {
		t.Errorf("the message names roads %v, want [1 2]", left)
	}
}

func TestLocal_AsksEveryNodeThatServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		by := cells.Local()
		serve := func(cursor uint64, err error) (calls *int, end func()) {
			calls = new(int)
			ctx, cancel := context.WithCancel(t.Context())
			go by.Serve(ctx, 1, func(context.Context, []byte) (uint64, error) { *calls++; return cursor, err })
			synctest.Wait()
			return calls, func() { cancel(); synctest.Wait() }
		}
		follower, endFollower := serve(0, errFault)
		owner, endOwner := serve(7, nil)
		if cursor, err := by.Request(t.Context(), 1, nil); cursor != 7 || err != nil || *follower != 1 || *owner != 1 {
			t.Errorf("%d, %v; the follower was asked %d times, the owner %d times", cursor, err, *follower, *owner)
		}
		endFollower()
		if cursor, err := by.Request(t.Context(), 1, nil); cursor != 7 || err != nil || *follower != 1 {
			t.Errorf("%d, %v; a node that has ended was asked %d times", cursor, err, *follower-1)
		}
		endOwner()
		if cursor, err := by.Request(t.Context(), 1, nil); err == nil || *owner != 2 {
			t.Errorf("%d, %v; a node that has ended was asked %d times", cursor, err, *owner-2)
		}
	})
}
