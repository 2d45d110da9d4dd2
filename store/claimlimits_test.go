package store_test

import (
	"errors"
	"testing"

	"handloom/store"

	"pgregory.net/rapid"
)

// made are the names of a call's creates, by table.
type made struct {
	stems  []store.Handle[stem]
	leaves []store.Handle[leaf]
	marks  []store.Handle[mark]
}

// make returns a call that creates items of the tables in an order, and notes their names.
// Values are numbered by their place in the call.
func (m *made) make(c *claimed, order []int) func(q store.Queue) error {
	return func(q store.Queue) error {
		for i, table := range order {
			switch table {
			case 0:
				m.stems = append(m.stems, c.stems.Emplace(q, stem{Value: i}))
			case 1:
				m.leaves = append(m.leaves, c.leaves.Emplace(q, leaf{Weight: float64(i)}))
			case 2:
				m.marks = append(m.marks, c.marks.Emplace(q, mark{}))
			}
		}
		return nil
	}
}

// want fails the test unless the receipt resolves each name to its own item.
func (m *made) want(t tb, c *claimed, r *store.Receipt, order []int) {
	t.Helper()
	var n [3]int
	for i, table := range order {
		var ok bool
		switch at := n[table]; table {
		case 0:
			var h store.Handle[stem]
			if h, ok = store.Resolved(r, m.stems[at]); ok {
				ok = c.stems.Has(h) && c.stems.At(h).Value == i
			}
		case 1:
			var h store.Handle[leaf]
			if h, ok = store.Resolved(r, m.leaves[at]); ok {
				ok = c.leaves.Has(h) && c.leaves.At(h).Weight == float64(i)
			}
		case 2:
			var h store.Handle[mark]
			if h, ok = store.Resolved(r, m.marks[at]); ok {
				ok = c.marks.Has(h)
			}
		}
		if n[table]++; !ok {
			t.Fatalf("create %d of tables %v does not resolve to its item", i, order)
		}
	}
}

// A claimed store refuses calls beyond its limits, and only these: commands that were
// sealed count no more. The receipt of every other call resolves the names of all tables.
func TestClaimSubmit_KeepsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		queue, inbox := rapid.IntRange(1, 12).Draw(t, "QueueLimit"), rapid.IntRange(1, 30).Draw(t, "InboxLimit")
		c := newUnclaimed(t, store.Options{Workers: 1, QueueLimit: queue, InboxLimit: inbox})
		claim, err := c.Claim(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c.claim = claim
		defer claim.Release()
		type waiting struct {
			made
			*sent
			order []int
		}
		var waits []*waiting
		held := 0 // commands that wait
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
			input, calls := claim.Seal(nil, rapid.SampledFrom([]int{0, 100, 1 << 20}).Draw(t, "most"))
			n := calls.Len()
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
