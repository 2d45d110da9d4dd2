package store_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/store"
)

// node has handles in a field and in references of every form.
type node struct {
	Value  uint64
	Parent store.Handle[node]
	Kids   []store.Handle[node]
	Named  map[string]*store.ID
	Deep   *branch
}

type branch struct {
	To   [2]store.ID
	Next []*branch
}

func visitNode(v *node, visit func(*store.ID)) {
	for i := range v.Kids {
		visit(&v.Kids[i].ID)
	}
	for _, id := range v.Named {
		visit(id)
	}
	if v.Deep != nil {
		v.Deep.visit(visit)
	}
}

func (b *branch) visit(visit func(*store.ID)) {
	visit(&b.To[0])
	visit(&b.To[1])
	for _, next := range b.Next {
		next.visit(visit)
	}
}

type nodes = anyTable[node]

func kids(value uint64, hs ...store.Handle[node]) node { return node{Value: value, Kids: hs} }

func registerNodes(t tb, s *store.Store, o store.TableOptions[node], stable bool) nodes {
	t.Helper()
	if o.Links == nil {
		o.Links = visitNode
	}
	return registerKind(t, s, o, stable)
}

// Values below 100 stay in the table.
func staying(t *testing.T, s *store.Store, table nodes) (target store.Handle[node], left [][]store.Handle[node]) {
	t.Helper()
	live := table.EmplaceItems(queues(t, s, 1)[0], make([]node, 2), nil)
	flush(t, s)
	resolveAll(t, table, live)
	qs := queues(t, s, 2)
	target = table.Emplace(qs[0], kids(1))
	gone := func(value uint64) node {
		v := kids(value, target)
		left = append(left, v.Kids)
		return v
	}
	table.Emplace(qs[0], kids(2, target))
	once, twice, cancelled := table.Emplace(qs[0], gone(103)), table.Emplace(qs[1], gone(104)), table.Emplace(qs[1], gone(106))
	table.Put(qs[1], once, kids(3, target))
	table.Put(qs[0], twice, gone(105))
	table.Put(qs[1], twice, kids(4, target))
	table.Put(qs[0], cancelled, gone(107))
	table.Erase(qs[0], cancelled)
	table.Put(qs[1], live[0], kids(5, target)) // the last by key, recorded first
	table.Put(qs[0], live[0], gone(108))
	table.Put(qs[0], live[1], gone(110))
	table.Erase(qs[1], live[1])
	table.Put(qs[1], store.Handle[node]{ID: live[0].ID + 1<<32}, gone(111))
	return target, left
}

func TestLinks_CalledOncePerKeptValue(t *testing.T) {
	if check.Full {
		t.Skip("a checked build calls it for live items too")
	}
	bothKinds(t, func(t *testing.T, stable bool) {
		for _, shards := range []int{1, 3} {
			var calls calls
			s := newStore(t, store.Options{Workers: 3})
			table := registerNodes(t, s, store.TableOptions[node]{Shards: shards, Links: calls.visit}, stable)
			target, left := staying(t, s, table)
			calls.take() // clears the calls for existing items
			flush(t, s)
			equalLists(t, "values that Links was called for", calls.take(), 1, 2, 3, 4, 5)
			for i, hs := range left {
				equal(t, fmt.Sprintf("handle in the slice of value %d, which stays nowhere", i), hs[0], target)
			}
			table.Erase(queues(t, s, 1)[0], resolve(t, table, target))
			if flush(t, s); len(calls.take()) > 0 {
				t.Error("Links was called by a flush of an erase")
			}
		}
	})
}

type calls struct {
	mu     sync.Mutex
	values []uint64
	before func(call int)
}

func (c *calls) visit(v *node, visit func(*store.ID)) {
	c.mu.Lock()
	number := len(c.values)
	c.values = append(c.values, v.Value)
	before := c.before
	c.mu.Unlock()
	if before != nil {
		before(number)
	}
	visitNode(v, visit)
}

func (c *calls) take() []uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	values := c.values
	c.values = nil
	slices.Sort(values)
	return values
}

// linked is a store with a table of each kind and a batch with commands of every kind.
type linked struct {
	*store.Store
	tables []nodes
	calls  calls
	slices [][]store.Handle[node]
	names  []store.Handle[node]
}

func newLinked(t tb, workers int) *linked {
	t.Helper()
	l := &linked{Store: newStore(t, store.Options{Workers: workers})}
	perturb(t, func(int) func(int) int { return func(i int) int { return i } }) // small tasks are distributed, too
	for i, name := range []string{"packed", "stable"} {
		o := store.TableOptions[node]{Name: name, Shards: 2 + i, Links: l.calls.visit}
		l.tables = append(l.tables, registerNodes(t, l.Store, o, i == 1))
	}
	l.record(t, nil)
	flush(t, l.Store)
	var live []store.Handle[node]
	for i, p := range l.names {
		live = append(live, resolve(t, l.tables[i%2], p))
	}
	l.names, l.slices = nil, nil
	l.calls.take()
	l.record(t, live)
	return l
}

// record creates items with links to each other, changes the live ones, and erases some.
func (l *linked) record(t tb, live []store.Handle[node]) {
	qs := queues(t, l.Store, 2)
	value := func(i int) node {
		v := kids(uint64(i))
		if n := len(l.names); n > 0 {
			v.Kids = append(v.Kids, l.names[n-1], l.names[n/2])
			v.Parent = l.names[n/3]
		}
		l.slices = append(l.slices, v.Kids)
		return v
	}
	for i := range 12 {
		l.names = append(l.names, l.tables[i%2].Emplace(qs[i%3%2], value(i)))
	}
	for i, h := range live {
		switch table, q := l.tables[i%2], qs[i%2]; i % 4 {
		case 0:
			table.Erase(q, h)
		case 3:
		default:
			table.Put(q, h, value(100+i))
		}
	}
	if live != nil {
		l.tables[0].Erase(qs[1], l.names[4])
		l.tables[1].Put(qs[0], l.names[5], value(200))
	}
}

func (l *linked) checkUntouched(t *testing.T, what string, d uint64, pending batch.Load, recorded [][]store.Handle[node]) {
	t.Helper()
	equal(t, what+": digest", digest(t, l.Store), d)
	equal(t, what+": epoch", l.Epoch(), 1)
	equal(t, what+": pending", l.Pending(), pending)
	if !slices.EqualFunc(l.slices, recorded, slices.Equal) {
		t.Errorf("%s: recorded values were changed", what)
	}
}

// Links fails at each call: on the flushing goroutine with one worker, on any with more.
func TestLinks_FailureChangesNothing(t *testing.T) {
	if check.Full {
		t.Skip("a checked build calls it for live items too, and the test counts calls")
	}
	fault := errors.New("a fault of the test")
	for name, way := range map[string]struct {
		end  func(cancel context.CancelFunc)
		fits func(err error, returned bool, workers int) bool
	}{
		"panic": {
			func(context.CancelFunc) { panic(fault) },
			func(err error, returned bool, _ int) bool {
				var p *store.PanicError
				return returned && errors.As(err, &p) && p.Value == fault
			},
		},
		"exit": {
			func(context.CancelFunc) { runtime.Goexit() },
			func(err error, returned bool, workers int) bool {
				return !returned || workers > 1 && errors.Is(err, store.ErrGoexit)
			},
		},
		"cancel": {
			func(cancel context.CancelFunc) { cancel() },
			func(err error, returned bool, _ int) bool { return returned && errors.Is(err, context.Canceled) },
		},
	} {
		for _, workers := range []int{1, 3} {
			t.Run(name, func(t *testing.T) {
				plain := newLinked(t, 1)
				report := flush(t, plain.Store)
				want, calls := digest(t, plain.Store), len(plain.calls.take())
				if calls < 12 || report.Total.Dangling == 0 {
					t.Fatalf("%d calls, %v", calls, report)
				}
				for at := range calls {
					l := newLinked(t, workers)
					d, pending, recorded := digest(t, l.Store), l.Pending(), cloneAll(l.slices)
					ctx, cancel := context.WithCancel(t.Context())
					l.calls.before = func(call int) {
						if call == at {
							way.end(cancel)
						}
					}
					err, returned := apart(func() error { return onlyError(l.Flush(ctx)) })
					cancel()
					if !way.fits(err, returned, workers) {
						t.Errorf("call %d: %v, returned: %t", at, err, returned)
					}
					l.calls.before = nil
					l.checkUntouched(t, name, d, pending, recorded)
					if got := flush(t, l.Store); fmt.Sprint(got, got.Tables, got.Columns, got.DroppedCalls, got.Stale) != fmt.Sprint(report, report.Tables, report.Columns, report.DroppedCalls, report.Stale) || digest(t, l.Store) != want {
						t.Errorf("call %d: the next flush says %+v, want %+v", at, got, report)
					}
				}
			})
		}
	}
}

func cloneAll[E any](lists [][]E) [][]E {
	var clones [][]E
	for _, list := range lists {
		clones = append(clones, slices.Clone(list))
	}
	return clones
}

// apart calls f on a goroutine of its own, and reports whether f returned.
func apart(f func() error) (err error, returned bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = f()
		returned = true
	}()
	<-done
	return err, returned
}
