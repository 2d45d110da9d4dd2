package store_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/store"
)

// bounded is a store whose queues have limits, with all that can be recorded into.
type bounded struct {
	*store.Store
	small  *store.Table[uint64]
	large  *store.StableTable[[5]uint64]
	column *store.Column[uint64, [3]uint32]
	sparse *store.Sparse[uint64, [2]uint64]
	live   []store.Handle[uint64]
}

func newBounded(t *testing.T, o store.Options) *bounded {
	s := newStore(t, o)
	b := &bounded{Store: s}
	b.small = register(t, s, store.TableOptions[uint64]{Name: "small", Shards: 2})
	b.large = registerStable(t, s, store.TableOptions[[5]uint64]{Name: "large", Shards: 3})
	var err error
	if b.column, err = store.AddColumn(b.small, store.ColumnOptions[[3]uint32]{Name: "column"}); err != nil {
		t.Fatal(err)
	}
	if b.sparse, err = store.AddSparse(b.small, store.ColumnOptions[[2]uint64]{Name: "sparse"}); err != nil {
		t.Fatal(err)
	}
	q := queues(t, s, 1)[0]
	names := b.small.EmplaceItems(q, make([]uint64, 10), nil)
	flush(t, s)
	for _, h := range names {
		b.live = append(b.live, resolve(t, b.small, h))
	}
	return b
}

// record records n commands that the seed chooses, in runs, and returns what the task
// sees of each.
func (b *bounded) record(q store.Queue, seed uint64, n int) (seen []string) {
	r := rand.New(rand.NewPCG(seed, 1))
	made := make([]store.Handle[uint64], 0, n)
	note := func(kind string, ok bool) { seen = append(seen, fmt.Sprint(len(seen), " ", kind, ok)) }
	emplace := func() {
		h := b.small.Emplace(q, 1)
		made = append(made, h)
		note("emplace", !h.ID.IsZero())
	}
	for len(seen) < n {
		kind := r.IntN(10)
		for range 1 + r.IntN(12) {
			h := b.live[r.IntN(len(b.live))]
			if len(made) > 0 && r.IntN(2) == 0 {
				h = made[r.IntN(len(made))]
			}
			switch kind {
			case 0, 1:
				emplace()
			case 2:
				note("emplace large", !b.large.Emplace(q, [5]uint64{}).ID.IsZero())
			case 3:
				note("items", len(b.small.EmplaceItems(q, make([]uint64, r.IntN(6)+1), nil)) > 0)
			case 4:
				b.small.Erase(q, h)
				note("erase", true)
			case 5:
				b.small.Put(q, h, 2)
				note("put", true)
			case 6:
				b.column.Set(q, h, [3]uint32{})
				note("set", true)
			case 7:
				if b.sparse.Set(q, h, [2]uint64{}); r.IntN(3) == 0 {
					b.sparse.Unset(q, h)
				}
				note("sparse", true)
			case 8:
				q.Erase(store.ID(1 << 60 >> 1))
				note("unrouted", true)
			default:
				_, ok := b.small.Staged(q, h)
				note("staged", ok)
			}
		}
		emplace()
	}
	return seen
}

// age gives the store a history: batches that are flushed, dropped or rolled back, and
// idle flushes that give memory back.
func (b *bounded) age(t *testing.T, r *rand.Rand, most int) {
	ctx := t.Context()
	for range r.IntN(5) {
		var c store.Checkpoint
		if err := b.Checkpoint(ctx, &c); err != nil {
			t.Fatal(err)
		}
		for range r.IntN(4) {
			seed, n := r.Uint64(), r.IntN(most)
			_ = b.Inbox(func(q store.Queue) error { b.record(q, seed, n); return nil })
			for _, q := range queues(t, b.Store, 1+r.IntN(2)) {
				b.record(q, r.Uint64(), r.IntN(most))
			}
			if _, err := b.Flush(ctx); err != nil {
				_ = b.Discard()
			}
		}
		if err := b.Rollback(ctx, &c); err != nil {
			t.Fatal(err)
		}
		for range []int{0, 1, 70, 140}[r.IntN(4)] {
			flush(t, b.Store)
		}
		if r.IntN(3) == 0 {
			var saved bytes.Buffer
			if err := b.Snapshot(ctx, &saved); err != nil {
				t.Fatal(err)
			}
			if err := b.Load(ctx, &saved); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestQueueLimit_SeenAtTheSameCommandWhateverTheHistory(t *testing.T) {
	for name, o := range map[string]store.Options{
		"commands": {QueueLimit: 100}, "few commands": {QueueLimit: 12}, "bytes": {QueueBytes: 3000},
		"both": {QueueLimit: 150, QueueBytes: 4000}, "more than a kilobyte": {QueueLimit: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			most := 2 * max(o.QueueLimit, int(o.QueueBytes/20))
			for seed := range uint64(12) {
				r := rand.New(rand.NewPCG(seed, 2))
				cold, warm := newBounded(t, o), newBounded(t, o)
				warm.age(t, r, most)
				for range 5 {
					program := r.Uint64()
					var first, second []string
					record := func(b *bounded, seen *[]string) func(q store.Queue) error {
						return func(q store.Queue) error { *seen = b.record(q, program, most); return nil }
					}
					if r.IntN(2) == 0 {
						errA, errB := cold.Inbox(record(cold, &first)), warm.Inbox(record(warm, &second))
						if (errA == nil) != (errB == nil) {
							t.Fatalf("seed %d: the call returns %v in a cold store, %v in a warm one", seed, errA, errB)
						}
					} else {
						_ = record(cold, &first)(queues(t, cold.Store, 1)[0])
						_ = record(warm, &second)(queues(t, warm.Store, 1)[0])
					}
					_ = cold.Discard()
					_ = warm.Discard()
					if !slices.Equal(first, second) {
						for i := range first {
							if first[i] != second[i] {
								t.Fatalf("seed %d: a cold store shows %q, a warm one %q", seed, first[i], second[i])
							}
						}
					}
					warm.age(t, r, most)
				}
			}
		})
	}
}

// The null handle comes with the first command that the limit does not admit.
func TestQueueLimit_IsExact(t *testing.T) {
	s, table := newTable(t, store.Options{QueueLimit: 100}, store.TableOptions[item]{})
	other := register(t, s, store.TableOptions[uint64]{Name: "other"})
	for before := range 101 {
		q := queues(t, s, 1)[0]
		for i := range before {
			switch i % 3 {
			case 0:
				other.Emplace(q, 1)
			case 1:
				other.Put(q, store.Handle[uint64]{ID: 1}, 1)
			default:
				table.Erase(q, store.Handle[item]{ID: 1})
			}
		}
		n := before
		for ; !table.Emplace(q, item{}).ID.IsZero(); n++ {
			if n > 100 {
				t.Fatalf("%d commands are recorded, want 100", n)
			}
		}
		if n != 100 {
			t.Errorf("after %d other commands the null handle comes after %d, want 100", before, n)
		}
		if err := s.Discard(); err != nil {
			t.Fatal(err)
		}
	}
}
