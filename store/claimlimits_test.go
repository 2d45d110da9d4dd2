package store_test

import (
	"errors"
	"testing"

	"handloom/store"

	"pgregory.net/rapid"
)

type made []store.ID

// make returns a call that creates an item in each table of order.
func (m *made) make(c *claimed, order []int) func(q store.Queue) error {
	return callOf(func(q store.Queue) {
		for i, table := range order {
			switch table {
			case 0:
				*m = append(*m, c.stems.Emplace(q, stem{Value: i}).ID)
			case 1:
				*m = append(*m, c.leaves.Emplace(q, leaf{Weight: float64(i)}).ID)
			case 2:
				*m = append(*m, c.marks.Emplace(q, mark{}).ID)
			}
		}
	})
}

// want fails the test unless the receipt resolves each handle to its item.
func (m made) want(t tb, c *claimed, r *store.Receipt, order []int) {
	t.Helper()
	for i, table := range order {
		id, ok := r.Resolve(m[i])
		switch table {
		case 0:
			v, found := c.stems.Get(store.Handle[stem]{ID: id})
			ok = ok && found && v.Value == i
		case 1:
			v, found := c.leaves.Get(store.Handle[leaf]{ID: id})
			ok = ok && found && v.Weight == float64(i)
		case 2:
			ok = ok && c.marks.Has(store.Handle[mark]{ID: id})
		}
		if !ok {
			t.Fatalf("create %d of tables %v does not resolve to its item", i, order)
		}
	}
}

// Sealed commands do not count towards the limits.
func TestClaim_SubmitKeepsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		queue, inbox := rapid.IntRange(1, 12).Draw(t, "QueueLimit"), rapid.IntRange(1, 30).Draw(t, "InboxLimit")
		c := newUnclaimed(t, store.Options{Workers: 1, QueueLimit: queue, InboxLimit: inbox})
		claim := claim(t, c.Store)
		c.claim = claim
		type waiting struct {
			made
			*sent
			order []int
		}
		var waits []*waiting
		held := 0
		for tick := range uint64(rapid.IntRange(1, 12).Draw(t, "ticks")) {
			for range rapid.IntRange(0, 5).Draw(t, "calls") {
				w := &waiting{order: rapid.SliceOfN(rapid.IntRange(0, 2), 1, 14).Draw(t, "order")}
				w.sent = c.send(w.make(c, w.order))
				if n := len(w.order); n <= queue && held+n <= inbox {
					held += n
					waits = append(waits, w)
					continue
				}
				if w.done.Wait(); !errors.Is(w.errs[0], store.ErrQueueFull) {
					t.Fatalf("a call of %d commands, %d wait, limits %d and %d: %v", len(w.order), held, queue, inbox, w.errs[0])
				}
			}
			most := rapid.SampledFrom([]int{0, 100, 1 << 20}).Draw(t, "most")
			input, calls := claim.Seal(nil, most)
			n := calls.Len()
			if n > 1 && len(input) > most || n == 0 && len(waits) > 0 || n < len(waits) && most == 1<<20 {
				t.Fatalf("%d of %d calls in %d bytes, of %d at most", n, len(waits), len(input), most)
			}
			for _, w := range waits[:n] {
				held -= len(w.order)
			}
			c.tick(t, input, calls)
			calls.Done(tick, nil)
			for _, w := range waits[:n] {
				w.returned(t)
				w.want(t, c, w.receipts[0], w.order)
			}
			waits = waits[n:]
		}
		claim.Release()
		for _, w := range waits {
			w.fails(t, store.ErrDiscarded, "")
		}
	})
}
