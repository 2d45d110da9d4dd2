package store_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/store"
)

// bounded is a store whose queues have limits, with tables, a column and sparse data.
type bounded struct {
	*store.Store
	small  *store.Table[uint64]
	large  *store.StableTable[[5]uint64]
	column *store.Column[uint64, [3]uint32]
	sparse *store.Sparse[uint64, [2]uint64]
	live   []store.Handle[uint64]
}

func newBounded(t *testing.T, o store.Options) *bounded {
	b := &bounded{Store: newStore(t, o)}
	b.small = register(t, b.Store, store.TableOptions[uint64]{Name: "small", Shards: 2})
	b.large = registerStable(t, b.Store, store.TableOptions[[5]uint64]{Name: "large", Shards: 3})
	b.column = addColumn(t, b.small, store.ColumnOptions[[3]uint32]{Name: "column"})
	b.sparse = addSparse(t, b.small, store.ColumnOptions[[2]uint64]{Name: "sparse"})
	names := b.small.EmplaceItems(queues(t, b.Store, 1)[0], make([]uint64, 10), nil)
	flush(t, b.Store)
	for _, h := range names {
		b.live = append(b.live, resolve(t, b.small, h))
	}
	return b
}

// record records random commands and returns for each whether there is a handle or staged
// value.
func (b *bounded) record(q store.Queue, seed uint64, n int) (seen []bool) {
	r := rand.New(rand.NewPCG(seed, 1))
	made := slices.Clone(b.live)
	var h store.Handle[uint64]
	emplace := func() bool {
		h := b.small.Emplace(q, 1)
		made = append(made, h)
		return !h.ID.IsZero()
	}
	kinds := []func() bool{
		emplace,
		func() bool { return !b.large.Emplace(q, [5]uint64{}).ID.IsZero() },
		func() bool { return len(b.small.EmplaceItems(q, make([]uint64, r.IntN(6)+1), nil)) > 0 },
		func() bool { b.small.Erase(q, h); return true },
		func() bool { b.small.Put(q, h, 2); return true },
		func() bool { b.column.Set(q, h, [3]uint32{}); return true },
		func() bool { b.sparse.Set(q, h, [2]uint64{}); return true },
		func() bool { b.sparse.Unset(q, h); return true },
		func() bool { q.Erase(store.ID(1 << 60 >> 1)); return true },
		func() bool { return found(b.small.Staged(q, h)) },
	}
	for len(seen) < n {
		kind := kinds[r.IntN(len(kinds))]
		for range 1 + r.IntN(12) {
			h = made[r.IntN(len(made))]
			seen = append(seen, kind())
		}
		seen = append(seen, emplace())
	}
	return seen
}

// age gives the store a history.
func (b *bounded) age(t *testing.T, r *rand.Rand, most int) {
	for range r.IntN(5) {
		var c store.Checkpoint
		checkpoint(t, b.Store, &c)
		for range r.IntN(4) {
			seed, n := r.Uint64(), r.IntN(most)
			_ = b.Inbox(func(q store.Queue) error { b.record(q, seed, n); return nil })
			for _, q := range queues(t, b.Store, 1+r.IntN(2)) {
				b.record(q, r.Uint64(), r.IntN(most))
			}
			if _, err := b.Flush(t.Context()); err != nil {
				_ = b.Discard()
			}
		}
		noError(t, b.Rollback(t.Context(), &c))
		for range []int{0, 1, 70, 140}[r.IntN(4)] {
			flush(t, b.Store)
		}
		if r.IntN(3) == 0 {
			noError(t, b.Load(t.Context(), bytes.NewReader(image(t, b.Store))))
		}
	}
}

func TestQueueLimit_DoesNotDependOnHistory(t *testing.T) {
	for _, o := range []store.Options{
		{QueueLimit: 100}, {QueueLimit: 12}, {QueueBytes: 3000}, {QueueLimit: 150, QueueBytes: 4000}, {QueueLimit: 1000},
	} {
		most := 2 * max(o.QueueLimit, int(o.QueueBytes/20))
		for seed := range uint64(12) {
			r := rand.New(rand.NewPCG(seed, 2))
			cold, warm := newBounded(t, o), newBounded(t, o)
			for range 5 {
				warm.age(t, r, most)
				program, inbox := r.Uint64(), r.IntN(2) == 0
				var seen [2][]bool
				var errs [2]error
				for i, b := range []*bounded{cold, warm} {
					record := func(q store.Queue) error { seen[i] = b.record(q, program, most); return nil }
					if inbox {
						errs[i] = b.Inbox(record)
					} else {
						_ = record(queues(t, b.Store, 1)[0])
					}
					_ = b.Discard()
				}
				if (errs[0] == nil) != (errs[1] == nil) || !slices.Equal(seen[0], seen[1]) {
					t.Fatalf("%+v, seed %d: a cold store shows %v, a warm one %v; %v, %v", o, seed, seen[0], seen[1], errs[0], errs[1])
				}
			}
		}
	}
}

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
			atMost(t, "recorded commands", n, 100)
		}
		equal(t, fmt.Sprintf("place of the null handle after %d other commands", before), n, 100)
		called := false
		h := store.EmplaceFunc(table, q, func(store.Handle[item], *item) { called = true })
		if hs := table.EmplaceItems(q, make([]item, 1), nil); len(hs) > 0 || !h.ID.IsZero() || called || s.Pending().Commands > 0 {
			t.Errorf("a full queue gives %v and %v, and calls the function: %t", hs, h, called)
		}
		noError(t, s.Discard())
	}
}
