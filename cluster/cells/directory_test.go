package cells_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"handloom/cluster/cells"
	"handloom/store"
	"handloom/store/storetest"
	"handloom/world"
)

type named struct {
	Name string
	N    int
}

// A register is a store with a directory, and what that should know.
type register struct {
	*store.Store
	items *store.Table[named]
	names *Directory[string, named]
	tick  uint64

	known map[string]store.Handle[named]
	gone  map[string]cells.ID
	until map[string]uint64
}

func newRegister(t testing.TB) *register {
	t.Helper()
	r, err := registerIn(newStore(t))
	noError(t, err)
	return r
}

func registerIn(s *store.Store) (*register, error) {
	r := &register{Store: s, known: make(map[string]store.Handle[named]), gone: make(map[string]cells.ID), until: make(map[string]uint64)}
	r.items = store.Register(s, store.TableOptions[named]{Name: "named", Shards: 2, Changes: true})
	r.names = NewDirectory(s, r.items, func(v *named) string { return v.Name })
	return r, nil
}

// play plays a tick that erases some items and records others.
func (r *register) play(t rapid.TB, erase []store.Handle[named], create []string, in func(w *store.Writer) error) (made []store.Handle[named]) {
	t.Helper()
	r.tick++
	noError(t, r.Write(context.Background(), func(ctx context.Context, w *store.Writer) error {
		return r.names.Tick(func(ctx context.Context, w *store.Writer, _ world.Tick) error {
			var ps []store.Handle[named]
			err := r.Do(ctx, func(q store.Queue) {
				r.items.EraseItems(q, erase)
				for _, name := range create {
					ps = append(ps, r.items.Emplace(q, named{Name: name}))
				}
			})
			if err != nil {
				return err
			}
			if _, err := r.Flush(ctx); err != nil {
				return err
			}
			for _, p := range ps {
				h, _ := r.items.Resolve(p)
				made = append(made, h)
			}
			if in != nil {
				return in(w)
			}
			return nil
		})(ctx, w, world.Tick{Number: r.tick})
	}))
	return made
}

func (r *register) checkpoint(t testing.TB) *store.Checkpoint {
	t.Helper()
	c := new(store.Checkpoint)
	noError(t, r.Checkpoint(context.Background(), c))
	return c
}

func (r *register) rollback(t testing.TB, to *store.Checkpoint) {
	t.Helper()
	noError(t, r.Rollback(context.Background(), to))
}

// A directory, in random ticks, with loads in between, against a map. Each tick is taken
// back, follows another one in the same place, and returns: an index is not taken for the
// index of a state before it, after it, or of another history.
func TestADirectoryAgainstAMap(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	rapid.Check(t, func(rt *rapid.T) {
		r := newRegister(t)
		r.play(t, nil, nil, nil)
		rt.Repeat(map[string]func(*rapid.T){
			"": func(rt *rapid.T) { r.check(rt, names) },
			"tick": func(rt *rapid.T) {
				before, was := r.checkpoint(t), r.copy()
				r.random(rt, names)
				after, is := r.checkpoint(t), r.copy()
				r.rollback(t, before)
				r = was.copy()
				r.check(rt, names)
				r.random(rt, names)
				r.check(rt, names)
				for _, to := range []struct {
					*store.Checkpoint
					*register
				}{{after, is}, {before, was}, {after, is}} {
					r.rollback(t, to.Checkpoint)
					r = to.register
					r.check(rt, names)
				}
			},
			"reload": func(rt *rapid.T) {
				var image bytes.Buffer
				noError(rt, r.Snapshot(context.Background(), &image))
				again := newRegister(t)
				noError(rt, again.Load(context.Background(), &image))
				again.known, again.gone, again.until, again.tick = r.known, r.gone, r.until, r.tick
				r = again
			},
		})
	})
}

// check compares each name with the map.
func (r *register) check(rt *rapid.T, names []string) {
	for _, name := range names {
		h, ok := r.names.Find(name)
		if want, has := r.known[name]; ok != has || h != want {
			rt.Fatalf("%s: found %v, %t, want %v, %t", name, h, ok, want, has)
		}
		to, ok := r.names.Moved(name)
		if want, has := r.gone[name]; ok != has || to != want {
			rt.Fatalf("%s: gone to %v, %t, want %v, %t", name, to, ok, want, has)
		}
	}
}

func (r *register) copy() *register {
	c := *r
	c.known, c.gone, c.until = maps.Clone(r.known), maps.Clone(r.gone), maps.Clone(r.until)
	return &c
}

// random plays a tick in which names come, go, and move away.
func (r *register) random(rt *rapid.T, names []string) {
	some := func(what string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, rapid.ID).Draw(rt, what)
	}
	erase, create, moved := some("erase"), some("create"), some("moved")
	var hs []store.Handle[named]
	for _, name := range erase {
		if h, ok := r.known[name]; ok {
			hs = append(hs, h)
			delete(r.known, name)
		}
	}
	create = slices.DeleteFunc(create, func(name string) bool { _, ok := r.known[name]; return ok })
	until := r.tick + 1 + rapid.Uint64Range(0, 3).Draw(rt, "until")
	to := cells.ID(rapid.Uint64Range(1, 9).Draw(rt, "to"))
	made := r.play(rt, hs, create, func(w *store.Writer) error {
		for _, name := range erase {
			if h, ok := r.names.Find(name); ok {
				rt.Fatalf("%s: found %v, which this tick erased", name, h)
			}
		}
		for _, name := range moved {
			if err := r.names.Forward(w, name, to, until); err != nil {
				return err
			}
		}
		return nil
	})
	for _, name := range moved {
		r.gone[name], r.until[name] = to, until
	}
	for i, name := range create {
		r.known[name] = made[i]
		delete(r.gone, name)
	}
	for name := range r.gone {
		if r.until[name] <= r.tick {
			delete(r.gone, name)
		}
	}
}

func TestADirectoryIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	setup := func(s *store.Store) (func(context.Context, int) error, error) {
		r, err := registerIn(s)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, frame int) error {
			return s.Write(ctx, func(ctx context.Context, w *store.Writer) error {
				return r.names.Tick(func(ctx context.Context, w *store.Writer, t world.Tick) error {
					return s.Each(ctx, 20, func(task int, q store.Queue) {
						name := fmt.Sprint(task * (frame%3 + 1) % 30)
						if h, ok := r.names.Find(name); ok {
							r.items.Erase(q, h)
						} else {
							r.items.Emplace(q, named{name, task})
						}
					})
				})(ctx, w, world.Tick{Number: uint64(frame)})
			})
		}, nil
	}
	storetest.Run(t, storetest.Options{Workers: []int{1, 2, 8}, Frames: 10}, setup)
	storetest.Reopen(t, storetest.Options{Workers: []int{1}, Frames: 10}, setup)
}

// Of two items of one key the first is found, and no other when it is gone; items that
// were there before the first tick are found.
func TestASecondItemOfAKeyIsNotFound(t *testing.T) {
	ctx := t.Context()
	r := newRegister(t)
	var old store.Handle[named]
	noError(t, r.Write(ctx, func(_ context.Context, w *store.Writer) (err error) {
		old, err = r.items.Insert(w, named{Name: "old"})
		return err
	}))
	find := func(name string, want store.Handle[named]) {
		t.Helper()
		if h, ok := r.names.Find(name); h != want || ok != !want.ID.IsZero() {
			t.Errorf("%s: found %v, want %v", name, h, want)
		}
	}
	step := func(erase []store.Handle[named], create ...string) []store.Handle[named] {
		t.Helper()
		return r.play(t, erase, create, nil)
	}
	twins := step(nil, "twin", "twin")
	find("old", old)
	find("twin", twins[0])
	step(step(nil, "twin")) // the third one goes first
	find("twin", twins[0])
	step(twins[:1])
	find("twin", store.Handle[named]{})
	again := step(twins[1:], "twin")
	find("twin", again[0])
	noError(t, r.Write(ctx, func(_ context.Context, w *store.Writer) error {
		r.items.Remove(w, again[0])
		return nil
	}))
	find("twin", store.Handle[named]{})
	find("twin", step(nil, "twin")[0]) // though nobody was told that the one before it went
}
