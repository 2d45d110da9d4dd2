package history

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"handloom/internal/digest"
	"handloom/store"
)

// A tableCount counts the items of a table that a tick created, changed and erased.
type tableCount struct {
	Name                     string
	Live                     int
	Created, Changed, Erased int
	Counted                  bool
}

// Same reports that the tick changed nothing.
func (t *tableCount) Same() bool { return t.Created+t.Changed+t.Erased == 0 }

const (
	maxHashed = 1 << 20 // items of a store that are compared
	tickRows  = 20      // of a table
	tickCalls = 20      // with their commands
)

// A tickLens finds the items that the tick created, changed or erased: with another encoding of the
// item, its columns and its sparse data.
type tickLens struct {
	*view
	left   int                            // items that may be hashed
	hashes map[string]map[store.ID]uint64 // before, by table; nil: too many items
	rows   []*rows                        // by table
}

func (l *tickLens) before(s *store.Store) {
	l.hashes, l.left = map[string]map[store.ID]uint64{}, maxHashed
	for _, t := range s.Stats().Tables {
		if l.left < t.Live {
			continue
		}
		l.left -= t.Live
		all := make(map[store.ID]uint64, t.Live)
		for id, item := range s.DumpTable(t.Name, 0) {
			all[id] = hashOf(s, id, item)
		}
		l.hashes[t.Name] = all
	}
}

// after leaves the erased items in hashes.
func (l *tickLens) after(s *store.Store) {
	for _, t := range s.Stats().Tables {
		count := tableCount{Name: t.Name, Live: t.Live}
		r := &rows{table: t.Name}
		hashes := l.hashes[t.Name]
		if count.Counted = hashes != nil; count.Counted {
			for id, item := range s.DumpTable(t.Name, 0) {
				had, lived := hashes[id]
				delete(hashes, id)
				switch now := hashOf(s, id, item); {
				case !lived:
					count.Created++
				case had != now:
					count.Changed++
				default:
					continue
				}
				if len(r.all) < tickRows {
					r.add(s, id, item)
				}
			}
			count.Erased = len(hashes)
		}
		l.Tables, l.rows = append(l.Tables, count), append(l.rows, r)
	}
}

func (l *tickLens) finish(ctx context.Context) error {
	if !l.HasFirst {
		return nil
	}
	cursor, err := l.page.seek(ctx, l.Query.Tick-1, l.Query.Tick)
	if err != nil {
		return err
	}
	for i, r := range l.rows {
		t := &l.Tables[i]
		if t.Same() {
			continue
		}
		erased := l.hashes[t.Name]
		for id, item := range cursor.store.DumpTable(t.Name, 0) {
			if _, gone := erased[id]; gone && len(r.all) < 2*tickRows {
				r.row(id)
			}
			r.addBefore(cursor.store, id, item)
		}
		g := r.grid(true)
		g.Rest = t.Created + t.Changed + t.Erased - len(g.Rows)
		l.Grids = append(l.Grids, g)
	}
	slices.SortStableFunc(l.Grids, func(a, b *grid) int { return a.order() - b.order() })
	return nil
}

// order is 1 for the tables of package store, such as store.Rand, which almost each tick changes.
func (g *grid) order() int {
	if strings.HasPrefix(g.Table, "store.") {
		return 1
	}
	return 0
}

// hashOf hashes an item, its columns and its sparse data.
func hashOf(s *store.Store, id store.ID, item any) uint64 {
	var h digest.Hash
	add := func(value any) {
		v := reflect.ValueOf(value)
		digest.Of(v.Type().Elem()).Items(&h, v.UnsafePointer(), 1)
	}
	add(item)
	for name, element := range s.DumpColumns(id) {
		h.String(name)
		add(element)
	}
	return h.Sum()
}
