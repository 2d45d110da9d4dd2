package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/store"
)

// bounded is a store whose queues have limits.
type bounded struct {
	*store.Store
	small  *store.Table[item]
	large  *store.StableTable[[5]uint64]
	column *store.Column[item, [3]uint32]
	sparse *store.Sparse[item, [2]uint64]
	live   []store.Handle[item]
	start  store.Checkpoint
}

func newBounded(t *testing.T, o store.Options) *bounded {
	b := &bounded{Store: newStore(t, o)}
	b.small = register(t, b.Store, store.TableOptions[item]{Name: "small", Shards: 2})
	b.large = registerStable(t, b.Store, store.TableOptions[[5]uint64]{Name: "large", Shards: 3})
	b.column = addColumn(t, b.small, store.ColumnOptions[[3]uint32]{Name: "column"})
	b.sparse = addSparse(t, b.small, store.ColumnOptions[[2]uint64]{Name: "sparse"})
	b.live = fill(t, b.Store, b.small, 10)
	checkpoint(t, b.Store, &b.start)
	return b
}

// record records random commands and returns for each whether there is a handle or staged
// value. Pointers to staged values are kept and written later.
func (b *bounded) record(q store.Queue, seed uint64, n int) (seen []bool) {
	r := rand.New(rand.NewPCG(seed, 1))
	made := slices.Clone(b.live)
	staged := []*item{new(item)}
	var h store.Handle[item]
	emplace := func() bool {
		h := b.small.Emplace(q, item{Value: r.Uint64N(1000), Parent: h})
		made = append(made, h)
		return !h.ID.IsZero()
	}
	func1 := func(h store.Handle[item], v *item) {
		made = append(made, h)
		v.Parent = h
		own, ok := b.small.Staged(q, h)
		seen = append(seen, ok, emplace(), len(b.small.EmplaceItems(q, make([]item, r.IntN(20)), nil)) > 0)
		if again, ok := b.small.Staged(q, h); ok {
			again.Value += 7
			own.Links[0] = h.ID
		}
		v.Value *= 3
	}
	kinds := []func() bool{
		emplace,
		func() bool { return !b.large.Emplace(q, [5]uint64{}).ID.IsZero() },
		func() bool { return len(b.small.EmplaceItems(q, make([]item, r.IntN(6)+1), nil)) > 0 },
		func() bool { return !store.EmplaceFunc(b.small, q, func1).ID.IsZero() },
		func() bool { b.small.Erase(q, h); return true },
		func() bool { b.small.Put(q, h, item{Value: 2, Parent: made[r.IntN(len(made))]}); return true },
		func() bool { b.column.Set(q, h, [3]uint32{1}); return true },
		func() bool { b.sparse.Set(q, h, [2]uint64{1}); return true },
		func() bool { b.sparse.Unset(q, h); return true },
		func() bool { q.Erase(store.ID(1 << 60 >> 1)); return true },
		func() bool { v := staged[r.IntN(len(staged))]; v.Value = v.Value*31 + 5; return true },
		func() bool {
			v, ok := b.small.Staged(q, h)
			if ok {
				staged = append(staged, v)
			}
			return ok
		},
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

// Neither array capacities nor the values of provisional handles change the outcome.
func TestQueueLimit_DoesNotDependOnHistory(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 1
	}
	for _, o := range []store.Options{
		{}, {QueueLimit: 100}, {QueueLimit: 12}, {QueueBytes: 3000}, {QueueLimit: 150, QueueBytes: 4000}, {QueueLimit: 1000},
	} {
		most := max(2*o.QueueLimit, int(o.QueueBytes/10), 20) // 20: without limits
		if most == 20 {
			most = 2000
		}
		for seed := range seeds {
			r := rand.New(rand.NewPCG(seed, 2))
			cold, warm := newBounded(t, o), newBounded(t, o)
			for range 5 {
				warm.age(t, r, most)
				program, n := r.Uint64(), r.IntN(4)
				var outcomes [2]string
				for i, b := range []*bounded{cold, warm} {
					var err error
					var seen []bool
					if n == 0 {
						err = b.Inbox(func(q store.Queue) error { seen = b.record(q, program, most); return nil })
					} else {
						for k, q := range queues(t, b.Store, n) {
							seen = append(seen, b.record(q, program+uint64(k), most/n)...)
						}
					}
					err = errors.Join(err, onlyError(b.Flush(t.Context())))
					outcomes[i] = fmt.Sprint(seen, err != nil, digest(t, b.Store))
					_ = b.Discard()
					rollback(t, b.Store, &b.start)
				}
				if outcomes[0] != outcomes[1] {
					t.Fatalf("%+v, seed %d: a cold store shows %s, a warm one %s", o, seed, outcomes[0], outcomes[1])
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
		if hs := table.EmplaceItems(q, make([]item, 2), []store.Handle[item]{{ID: 7}}); len(hs) != 3 || hs[0].ID != 7 || !hs[1].ID.IsZero() || !hs[2].ID.IsZero() || !h.ID.IsZero() || called || s.Pending().Commands > 0 {
			t.Errorf("a full queue gives %v and %v, and calls the function: %t", hs, h, called)
		}
		noError(t, s.Discard())
	}
}
