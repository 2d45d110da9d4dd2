package cells_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"handloom/cluster/cells"
	"handloom/store"
	"handloom/world"
)

const (
	walkers = 20
	walks   = 300 // ticks of walking
)

// A walker goes to the other cell and back.
type walker struct {
	Key  int
	Hops uint64
}

type country struct {
	*store.Store
	other   cells.ID
	walkers *store.Table[walker]
	moves   *cells.Outbox[walker]
	keys    *cells.Directory[int, walker]
}

func newCountry(t testing.TB, other cells.ID) *country {
	t.Helper()
	s, err := store.New(store.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := &country{Store: s, other: other}
	var errs [3]error
	c.walkers, errs[0] = store.Register(s, store.TableOptions[walker]{Changes: true})
	c.moves, errs[1] = cells.New(s, cells.Options[walker]{})
	c.keys, errs[2] = cells.NewDirectory(s, c.walkers, func(w *walker) int { return w.Key })
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *country) tick(ctx context.Context, w *store.Writer, t world.Tick) error {
	var goes []int
	for _, v := range c.walkers.All() {
		if t.Number < walks && (t.Seed>>(v.Key%60))%4 == 0 {
			goes = append(goes, v.Key)
		}
	}
	err := c.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
		for _, m := range c.moves.Received() {
			if _, there := c.keys.Find(m.Key); there {
				return fmt.Errorf("walker %d came, and is there", m.Key)
			}
			c.walkers.Emplace(q, walker{m.Key, m.Hops + 1})
		}
		for _, key := range goes {
			h, ok := c.keys.Find(key)
			if !ok {
				continue // it came with the tick before the first
			}
			c.moves.Send(q, c.other, *c.walkers.At(h))
			c.walkers.Erase(q, h)
		}
		return nil
	})
	for _, key := range goes {
		if _, ok := c.keys.Find(key); ok {
			err = errors.Join(err, c.keys.Forward(w, key, c.other, 1<<40))
		}
	}
	return err
}

// Walkers go from cell to cell while nodes are killed. At every moment a walker is in a
// cell at most once, and in the end in one of them, which its directory says; the other
// one says where it went.
func TestItemsThatMoveAreInOneCell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ids := [2]cells.ID{cells.NewID(), cells.NewID()}
		by := &rough{Transport: cells.Local(), random: rand.New(rand.NewPCG(3, 4))}
		logs := [2]world.Log{locked{world.Memory()}, locked{world.Memory()}}
		var lands [2]*country
		var worlds [2]*world.World
		var stops [2]func()
		open := func(i int) {
			c := newCountry(t, ids[1-i])
			w, err := world.Open(context.Background(), c.Store, logs[i], world.Options{
				Program: "country", SnapshotTicks: 40, Shadow: 0.2, Tick: c.moves.Tick(c.keys.Tick(c.tick)),
				Init: func(_ context.Context, w *store.Writer) error {
					for key := range walkers {
						if key%2 == i {
							_, _ = c.walkers.Insert(w, walker{Key: key})
						}
					}
					return c.moves.Init(w, ids[i])
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(context.Background())
			var ended sync.WaitGroup
			ended.Go(func() { _ = w.Run(ctx) })
			ended.Go(func() { _ = c.moves.Run(ctx, w, by) })
			lands[i], worlds[i] = c, w
			stops[i] = func() {
				stop()
				ended.Wait()
				_ = w.Close(ctx)
			}
		}
		open(0)
		open(1)
		for kill := range 12 {
			time.Sleep(700 * time.Millisecond)
			stops[kill%2]()
			open(kill % 2)
		}
		until(t, "all have stopped", func() bool {
			n := 0
			for i, c := range lands {
				if why := worlds[i].Status().Halted; why != "" {
					t.Fatal(why)
				}
				_ = worlds[i].Read(context.Background(), func(_ context.Context, now world.Tick) error {
					n += c.walkers.Len()
					if now.Number < walks {
						n = -walkers
					}
					return nil
				})
			}
			return n == walkers
		})
		var hops uint64
		for key := range walkers {
			var there [2]bool
			for i, c := range lands {
				_ = worlds[i].Read(context.Background(), func(context.Context, world.Tick) error {
					h, ok := c.keys.Find(key)
					if ok {
						hops += c.walkers.At(h).Hops
					}
					if to, moved := c.keys.Moved(key); moved == ok && (moved || key%2 == i) || moved && to != ids[1-i] {
						t.Errorf("walker %d is in cell %d: %t; moved: %t", key, i, ok, moved)
					}
					there[i] = ok
					return nil
				})
			}
			if there[0] == there[1] {
				t.Errorf("walker %d is in the cells: %v", key, there)
			}
		}
		t.Logf("%d walkers, %d hops", walkers, hops)
		if hops < 200 {
			t.Error("they hardly moved")
		}
		for i := range stops {
			stops[i]()
		}
		by.late.Wait()
	})
}
