package cells_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"handloom/cluster/cells"
	"handloom/store"
	"handloom/world"
)

type register struct {
	*store.Store
	items *store.Table[string]
	names *Directory[string, string]
	tick  uint64

	known map[string]store.Handle[string]
	moved map[string]forward[string]
}

func newRegister(t testing.TB) *register {
	r := &register{Store: store.New(store.Options{}), known: make(map[string]store.Handle[string]), moved: make(map[string]forward[string])}
	r.items = store.Register(r.Store, store.TableOptions[string]{Name: "named"})
	r.names = NewDirectory(r.Store, r.items, func(v *string) string { return *v })
	return r
}

func TestDirectory_AgainstMap(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	rapid.Check(t, func(rt *rapid.T) {
		r := newRegister(t)
		rt.Repeat(map[string]func(*rapid.T){
			"":     func(rt *rapid.T) { r.check(rt, names) },
			"tick": func(rt *rapid.T) { r.random(rt, names) },
			"reload": func(rt *rapid.T) {
				var image bytes.Buffer
				noError(rt, r.Snapshot(context.Background(), &image))
				again := newRegister(t)
				noError(rt, again.Load(context.Background(), &image))
				again.known, again.moved, again.tick = r.known, r.moved, r.tick
				r = again
			},
		})
	})
}

func (r *register) check(rt *rapid.T, names []string) {
	for _, name := range names {
		h, ok := r.names.Find(name)
		if want, has := r.known[name]; ok != has || h != want {
			rt.Fatalf("%s: found %v, %t, want %v, %t", name, h, ok, want, has)
		}
		to, ok := r.names.Moved(name)
		if want, has := r.moved[name]; ok != has || to != want.To {
			rt.Fatalf("%s: moved to %v, %t, want %v, %t", name, to, ok, want.To, has)
		}
	}
}

func (r *register) random(rt *rapid.T, names []string) {
	some := func(what string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, rapid.ID).Draw(rt, what)
	}
	erase, create, moved := some("erase"), some("create"), some("moved")
	to, until := cells.ID(rapid.Uint64Range(1, 9).Draw(rt, "to")), r.tick+rapid.Uint64Range(1, 4).Draw(rt, "until")
	r.tick++
	var erased, created []store.Handle[string]
	for _, name := range erase {
		if h, ok := r.known[name]; ok {
			erased = append(erased, h)
			delete(r.known, name)
		}
	}
	create = slices.DeleteFunc(create, func(name string) bool { _, ok := r.known[name]; return ok })
	tick := r.names.Tick(func(ctx context.Context, w *store.Writer, _ world.Tick) error {
		for _, name := range moved {
			if err := r.names.Forward(w, name, to, until); err != nil {
				return err
			}
		}
		return r.Do(ctx, func(q store.Queue) {
			r.items.EraseItems(q, erased)
			for _, name := range create {
				created = append(created, r.items.Emplace(q, name))
			}
		})
	})
	noError(rt, errorOf(r.Frame(context.Background(), func(ctx context.Context, w *store.Writer) error {
		return tick(ctx, w, world.Tick{Number: r.tick})
	})))
	for _, name := range moved {
		r.moved[name] = forward[string]{name, to, until}
	}
	for i, name := range create {
		r.known[name], _ = r.items.Resolve(created[i])
	}
	for name, f := range r.moved {
		if _, here := r.known[name]; here || f.Until <= r.tick {
			delete(r.moved, name)
		}
	}
}
