package store_test

import (
	"bytes"
	"testing"

	"handloom/store"
)

type (
	flags struct { // no padding: copied as memory
		On, Off bool
		N       uint16
	}
	labelled struct {
		N    uint16 // next to padding: a number of its own
		Name string
		On   bool
	}
)

// Bools and 16-bit numbers of items, columns and sparse data are part of digest and snapshot, and
// a bool that is neither 0 nor 1 is refused.
func TestSnapshot_HasSmallFieldsOfComponents(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		checkSmall(t, stable, func(on bool, n uint16) bool { return on })
		checkSmall(t, stable, func(on bool, n uint16) uint16 { return n })
		checkSmall(t, stable, func(on bool, n uint16) flags { return flags{on, !on, n} })
		checkSmall(t, stable, func(on bool, n uint16) labelled { return labelled{n, "a", on} })
	})
}

func checkSmall[E comparable](t *testing.T, stable bool, element func(on bool, n uint16) E) {
	t.Helper()
	const rows = 70
	parts := 0
	made := func(part, row int, other E) *store.Store {
		s := newStore(t, store.Options{})
		table := registerKind(t, s, store.TableOptions[E]{}, stable)
		var o store.ColumnOptions[E]
		var sets []func(q store.Queue, h store.Handle[E], v E)
		for _, o.Name = range []string{"a", "b"} {
			sets = append(sets, addSparse(t, table, o).Set)
			if o.Name += "column"; !stable {
				sets = append(sets, addColumn(t, table.(packed[E]).Table, o).Set)
			}
		}
		parts = 1 + len(sets)
		q := queues(t, s, 1)[0]
		for i := range rows {
			at := func(p int) E {
				if p == part && i == row {
					return other
				}
				return element(false, 7)
			}
			h := table.Emplace(q, at(0))
			for p, set := range sets {
				set(q, h, at(p+1))
			}
		}
		flush(t, s)
		return s
	}
	plain := element(false, 7)
	s := made(-1, 0, plain)
	saved, before := image(t, s), digest(t, s)
	for i := range 3 * parts * 2 {
		part, row, other := i/6, []int{0, 1, rows - 1}[i/2%3], element(true, 7)
		if i%2 == 0 {
			other = element(false, 7+256)
		}
		if other == plain {
			continue
		}
		changed := image(t, made(part, row, other))
		noError(t, s.Load(t.Context(), bytes.NewReader(changed)))
		if digest(t, s) == before || !bytes.Equal(image(t, s), changed) {
			t.Errorf("%T: component %d of row %d is not part of the digest, or of a snapshot", plain, part, row)
		}
		forged := shardsOf(changed)
		for at, b := range shardsOf(saved)[0].payload {
			if was := forged[0].payload[at]; was != b && i%2 == 1 {
				forged[0].payload[at] = 2
				err := s.Load(t.Context(), bytes.NewReader(reblocked(changed[:headOf(changed)], forged, blockBytes)))
				wantError(t, "a bool of 2", err, store.ErrSnapshot)
				forged[0].payload[at] = was
			}
		}
	}
}
