package store_test

import (
	"context"
	"testing"

	"handloom/shard/handlemap"
	"handloom/shard/slotmap"
	"handloom/store"
)

// lentMap is a map of either kind, of a store or free-standing.
type lentMap[M any] interface {
	*M
	TypeID() uint16
	Insert(v uint64) (store.Handle[uint64], error)
	CopyTo(dst *M, clone func(dst, src *uint64))
	Clone() *M
	Has(h store.Handle[uint64]) bool
}

func TestMaps_KeepTheirIdentity(t *testing.T) {
	t.Run("packed", func(t *testing.T) {
		lentMapsKeepIdentity(t, func(s *store.Store, o store.TableOptions[uint64]) func(w *store.Writer) []*handlemap.Map[uint64] {
			table := register(t, s, o)
			return func(w *store.Writer) []*handlemap.Map[uint64] { return store.Maps(table, w) }
		})
	})
	t.Run("stable", func(t *testing.T) {
		lentMapsKeepIdentity(t, func(s *store.Store, o store.TableOptions[uint64]) func(w *store.Writer) []*slotmap.Map[uint64] {
			table := registerStable(t, s, o)
			return func(w *store.Writer) []*slotmap.Map[uint64] { return store.StableMaps(table, w) }
		})
	})
}

func lentMapsKeepIdentity[M any, P lentMap[M]](t *testing.T, newTable func(s *store.Store, o store.TableOptions[uint64]) func(w *store.Writer) []*M) {
	s := newStore(t, store.Options{})
	maps := newTable(s, store.TableOptions[uint64]{Name: "of", Shards: 2, MinFree: 1, MaxItems: 3})
	others := newTable(s, store.TableOptions[uint64]{Name: "other", MinFree: 1})
	write(t, s, func(w *store.Writer) {
		m, next, other := P(maps(w)[0]), P(maps(w)[1]), P(others(w)[0])
		h, err := m.Insert(7)
		noError(t, err)
		for name, from := range map[string]P{"zero map": new(M), "next shard": next, "other table": other} {
			id := m.TypeID()
			wantIn(t, name, panicOf(func() { from.CopyTo(m, nil) }), "belongs to a table")
			equal(t, name+": TypeID", m.TypeID(), id)
			equal(t, name+": Has", m.Has(h), true)
		}
		copied, cloned := P(new(M)), P(m.Clone())
		m.CopyTo(copied, nil)
		for name, from := range map[string]P{"copy": copied, "clone": cloned} {
			gone, err := m.Insert(8)
			noError(t, err)
			if from.CopyTo(m, nil); !m.Has(h) || m.Has(gone) {
				t.Errorf("%s: CopyTo back has item %t and the later one %t, want true and false", name, m.Has(h), m.Has(gone))
			}
		}
		other.CopyTo(copied, nil)
		equal(t, "copied.TypeID()", copied.TypeID(), other.TypeID())
	})
	for _, name := range []string{"a zero map", "the other table's"} {
		s := store.New(store.Options{})
		maps := newTable(s, store.TableOptions[uint64]{Name: "of"})
		others := newTable(s, store.TableOptions[uint64]{Name: "other"})
		p := panicOf(func() {
			_ = s.Write(context.Background(), func(w *store.Writer) {
				from := new(M)
				if name != "a zero map" {
					from = others(w)[0]
				}
				*maps(w)[0] = *from
			})
		})
		wantIn(t, "a Write that assigns "+name, p, `table "of"`)
		wantIn(t, "a Write that assigns "+name, p, "CopyTo")
	}
}
