package history

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"handloom/store"
)

// An itemView is an item before and after a tick, and its changes.
type itemView struct {
	ID    store.ID
	Table string // "": the item lives neither before nor after the tick
	Row   gridRow
	Lives bool

	Since   uint64   // the first tick of Changes
	More    bool     // ticks before Since are kept
	Changes []Change // newest first, without Last
	Problem string   // of Changes

	Last        *Change // if the query asks for it
	LastProblem string

	Needs        []Call // calls that Last needs, if the query asks for them
	NeedsProblem string
}

// HasList reports whether Changes can say more than Last.
func (i *itemView) HasList() bool { return i.Last == nil || i.Last.Tick >= i.Since }

// InPlace reports whether a change is a write in place, whose limits the page names.
func (i *itemView) InPlace() bool {
	inPlace := func(c Change) bool { return c.By.Kind == "in place" }
	return i.Last != nil && inPlace(*i.Last) || slices.ContainsFunc(i.Changes, inPlace)
}

// An itemLens shows one item.
type itemLens struct {
	*view
	row   itemRow
	table string
}

func (l *itemLens) before(s *store.Store) { l.row.before = l.find(s) }
func (l *itemLens) after(s *store.Store)  { l.row.after = l.find(s) }

// find copies the item in O(items) time. It returns nil if the item does not live.
func (l *itemLens) find(s *store.Store) *copied {
	for _, t := range s.Stats().Tables {
		for id, item := range s.DumpTable(t.Name, 0) {
			if id == l.Query.Item {
				l.table = t.Name
				return copyItem(s, id, item)
			}
		}
	}
	return nil
}

func (l *itemLens) finish(ctx context.Context) error {
	q := &l.Query
	rows := rows{table: l.table, all: []*itemRow{&l.row}}
	l.row.id = q.Item
	i := &itemView{ID: q.Item, Table: l.table, Row: rows.grid(l.HasFirst).Rows[0], Lives: l.row.after != nil}
	l.Item = i
	if !l.HasFirst {
		return nil
	}
	sp, err := l.page.spanOf(q.Tick, q.Tick)
	if err != nil {
		return err
	}
	i.Since = sp.First + 1
	if i.More = q.Tick-sp.First > q.Ticks; i.More {
		i.Since = q.Tick - q.Ticks + 1
	}
	i.Changes, err = l.page.Changes(ctx, q.Item, q.Field, i.Since, q.Tick)
	slices.Reverse(i.Changes)
	if i.Problem, err = l.problem(ctx, err); err != nil || !q.Last {
		return err
	}
	last, err := l.page.Why(ctx, q.Item, q.Field, q.Tick)
	if err == nil {
		i.Last = &last
		if len(i.Changes) > 0 && i.Changes[0].String() == last.String() {
			i.Changes = i.Changes[1:]
		}
	}
	if i.LastProblem, err = l.problem(ctx, err); err != nil || !q.Calls || i.Last == nil {
		return err
	}
	i.Needs, err = l.page.Calls(ctx, last)
	i.NeedsProblem, err = l.problem(ctx, err)
	return err
}

// problem returns the text of an error that is part of the page. It returns the error if that is
// the end of the request.
func (l *itemLens) problem(ctx context.Context, err error) (string, error) {
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "", err
	case errors.As(err, new(watchError)):
		l.Status = http.StatusNotFound
	case errors.Is(err, ErrImpure):
		l.Status = http.StatusInternalServerError
	}
	return err.Error(), nil
}
