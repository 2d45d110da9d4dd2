package soak

import (
	"context"
	"math/rand/v2"
	"time"

	"handloom/store"
	"handloom/stress/internal/feed"
)

// item is what the tables hold; rich ones hold pointers, which the collector
// follows.
type item struct {
	Serial uint64
	Age    uint32
	_      [20]byte
}

type rich struct {
	Serial uint64
	Text   string
	Path   []uint64
}

const (
	tasks    = 8 // of a pass that records
	replaced = 0.01

	packedShards, richShards = 4, 2

	minFree = 64 // free slots of a shard
)

// workload is a store, and the handles of its items by the task that has them.
type workload struct {
	store  *store.Store
	packed *store.Table[item]
	rich   *store.StableTable[rich]
	live   int
	parts  [tasks]part
}

// part is what one task has.
type part struct {
	*rand.Rand
	packed []store.Handle[item]
	rich   []store.Handle[rich]
	fresh  []int // indices in packed of provisional handles; the same in rich
	serial uint64
}

func newWorkload(o Options) (*workload, error) {
	s, err := store.New(store.Options{Workers: o.Workers})
	if err != nil {
		return nil, err
	}
	w := &workload{store: s, live: o.Live}
	if w.packed, err = store.Register(s, store.TableOptions[item]{Name: "packed", Shards: packedShards, MinFree: minFree}); err != nil {
		return nil, err
	}
	if w.rich, err = store.RegisterStable(s, store.TableOptions[rich]{Name: "rich", Shards: richShards, MinFree: minFree}); err != nil {
		return nil, err
	}
	for i := range w.parts {
		w.parts[i].Rand = rand.New(rand.NewPCG(o.Seed, uint64(i)))
	}
	return w, nil
}

// fill makes the items, half of them of each kind.
func (w *workload) fill(ctx context.Context) error {
	err := w.store.Each(ctx, tasks, func(_ context.Context, task int, q store.Queue) error {
		p := &w.parts[task]
		for i := range w.live / 2 / tasks {
			p.packed = append(p.packed, store.Handle[item]{})
			p.rich = append(p.rich, store.Handle[rich]{})
			w.create(p, q, i)
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = w.flush(ctx)
	return err
}

// create puts a new item of each kind in the i-th place of a part.
func (w *workload) create(p *part, q store.Queue, i int) {
	p.serial++
	p.packed[i] = w.packed.Emplace(q, item{Serial: p.serial})
	p.rich[i] = w.rich.Emplace(q, rich{Serial: p.serial, Text: "soak", Path: make([]uint64, 1+p.serial%8)})
	p.fresh = append(p.fresh, i)
}

// tick ages every item, replaces a part of them and puts a value to others. It
// returns how many commands that took, and how long the flush.
func (w *workload) tick(ctx context.Context) (commands int, flush time.Duration, err error) {
	err = w.packed.ForEach(ctx, func(_ context.Context, c store.Chunk[item]) error {
		for i := range c.Items {
			c.Items[i].Age++
		}
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	if err := w.store.Each(ctx, tasks, w.record); err != nil {
		return 0, 0, err
	}
	begun := time.Now()
	r, err := w.flush(ctx)
	if err != nil {
		return 0, 0, err
	}
	return r.Total.Commands(), time.Since(begun), nil
}

func (w *workload) record(_ context.Context, task int, q store.Queue) error {
	p := &w.parts[task]
	taken := make(map[int]bool)
	for range max(1, int(replaced*float64(len(p.packed)))) {
		i := p.IntN(len(p.packed))
		if taken[i] {
			continue
		}
		taken[i] = true
		w.packed.Erase(q, p.packed[i])
		w.rich.Erase(q, p.rich[i])
		w.create(p, q, i)
		if k := p.IntN(len(p.packed)); !taken[k] {
			w.packed.Put(q, p.packed[k], item{Serial: p.serial})
		}
	}
	return nil
}

// flush flushes, and has the provisional handles of the parts made real.
func (w *workload) flush(ctx context.Context) (*store.Report, error) {
	r, err := w.store.Flush(ctx)
	if err != nil {
		return nil, err
	}
	for task := range w.parts {
		p := &w.parts[task]
		for _, i := range p.fresh {
			packed, ok := w.packed.Resolve(p.packed[i])
			rich, ok2 := w.rich.Resolve(p.rich[i])
			if !ok || !ok2 {
				return nil, errLost
			}
			p.packed[i], p.rich[i] = packed, rich
		}
		p.fresh = p.fresh[:0]
	}
	return r, nil
}

// sample is a tenth as others follow it.
func (w *workload) sample(t *Tenth, interval time.Duration) feed.Sample {
	s := feed.Sample{
		Interval: interval, Ticks: t.Ticks, Operations: t.Operations, Flush: t.Flush, Tick: t.Flush,
		Live: t.Live, Heap: int64(t.Heap), Goroutines: t.Goroutines,
	}
	for _, of := range w.store.Stats().Tables {
		s.Shards = append(s.Shards, feed.Shard{Table: of.Name, Live: of.Live})
	}
	return s
}
