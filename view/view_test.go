package view_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"handloom/store"
	"handloom/view"
)

func panicOf(f func()) (message string) {
	defer func() { message = fmt.Sprint(recover()) }()
	f()
	return ""
}

// read calls f in a Read of f's store, after Advance.
func (f *field) read(t testing.TB, v *view.View[unit, unit], fn func(ctx context.Context)) {
	t.Helper()
	err := f.Read(t.Context(), func(ctx context.Context) error {
		v.Advance(ctx)
		fn(ctx)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (f *field) insert(t testing.TB, n int) (hs []handle) {
	t.Helper()
	err := f.Write(t.Context(), func(w *store.Writer) {
		for i := range n {
			hs = append(hs, f.units.Insert(w, unit{i}))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return hs
}

// A wrong use panics with the fix; a wrong number, which comes from a client, is an error.
func TestView_RefusesWrongUse(t *testing.T) {
	f := newField(1)
	plain := store.Register(f.Store, store.TableOptions[unit]{Name: "plain"})
	silent := store.AddColumn(f.units, store.ColumnOptions[unit]{Name: "silent"})
	v := view.New(f.units, keep)
	c, hs := v.Client(), f.insert(t, 3)
	of := slices.Values(hs)
	inRead := func(fn func(ctx context.Context)) func() {
		return func() {
			_ = f.Read(t.Context(), func(ctx context.Context) error {
				fn(ctx)
				return nil
			})
		}
	}
	for _, u := range []struct {
		want string
		use  func()
	}{
		{"register it with TableOptions.Changes", func() { view.New(plain, keep) }},
		{"add it with ColumnOptions.Changes", func() { view.Of(f.units, silent, keep) }},
		{"keep=0 Deltas, want at least 1", func() { view.New(f.units, 0) }},
		{"Advance outside a Read; call it with the context of a Read", func() { v.Advance(t.Context()) }},
		{"call Advance of the View first", inRead(func(ctx context.Context) { c.Update(ctx, of) })},
		{"Update outside a Read", func() { c.Update(t.Context(), of) }},
		{"", inRead(v.Advance)},
		{"", inRead(func(ctx context.Context) { c.Update(ctx, of) })},
		{`give Update handles of the table of the View`, inRead(func(ctx context.Context) {
			c.Update(ctx, slices.Values([]handle{{ID: store.ID(0x7fff) << 48 >> 1}}))
		})},
		{"two Updates of one Client at a time", inRead(func(ctx context.Context) {
			c.Update(ctx, func(yield func(handle) bool) { c.Update(ctx, of) })
		})},
		{"", func() { f.insert(t, 1) }},
		{"call Advance of the View first", inRead(func(ctx context.Context) { c.Update(ctx, of) })},
		{"Update outside a Read", func() {
			var ended context.Context
			inRead(func(ctx context.Context) { ended = ctx })()
			c.Update(ended, of)
		}},
	} {
		if got := panicOf(u.use); !strings.Contains(got, u.want) || (u.want == "") != (got == "<nil>") {
			t.Errorf("got %q, want %q", got, u.want)
		}
	}
	for n, want := range []bool{true, false, true} {
		if err := c.Acknowledge(uint64(n)); (err != nil) != want {
			t.Errorf("Acknowledge of %d: %v", n, err)
		}
	}
	f.read(t, v, func(ctx context.Context) {
		if d := c.Update(ctx, of); d.Number != 2 || d.Reset || len(slices.Collect(keys(d.Entered))) != 0 {
			t.Errorf("after wrong uses: got %+v", d)
		}
	})
}

func TestUpdate_AllocatesNothing(t *testing.T) {
	f := newField(1)
	v := view.New(f.units, keep)
	hs := f.insert(t, 400)
	acks, never := v.Client(), v.Client()
	var windows []iter.Seq[handle]
	for i := range 300 {
		windows = append(windows, slices.Values(hs[i:][:20]))
	}
	f.read(t, v, func(ctx context.Context) {
		i := 0
		if got := testing.AllocsPerRun(len(windows)-1, func() {
			never.Update(ctx, windows[i])
			_ = acks.Acknowledge(acks.Update(ctx, windows[i]).Number)
			i++
		}); got > 0 {
			t.Errorf("got %v allocations a frame", got)
		}
	})
}

// There are 100,000 items, and a tenth of them changes in each frame. A thousand clients see 200 items
// each, in any order; in each frame one of them is new. In "sets" the program keeps maps by hand.
func BenchmarkUpdate(b *testing.B) {
	const items, clients, inView, keep = 100_000, 1000, 200, 32
	seen := func(hs []handle, client, frame int) []handle { return hs[(client*97+frame)%(items-inView):][:inView] }
	b.Run("view", func(b *testing.B) {
		f := newCrowd(b, items)
		v := view.New(f.units, keep)
		all := make([]*view.Client[unit, unit], clients)
		for i := range all {
			all[i] = v.Client()
		}
		for frame := 0; b.Loop(); frame++ {
			f.step(b, frame)
			f.read(b, v, func(ctx context.Context) {
				inParallel(clients, func(i int) {
					sum := 0
					d := all[i].Update(ctx, slices.Values(seen(f.hs, i, frame)))
					for _, u := range d.Entered {
						sum += u.N
					}
					for _, u := range d.Changed {
						sum += u.N
					}
					for range d.Left {
						sum++
					}
					_ = all[i].Acknowledge(d.Number)
				})
			})
		}
	})
	b.Run("sets", func(b *testing.B) {
		f := newCrowd(b, items)
		all := make([]map[handle]bool, clients)
		for i := range all {
			all[i] = map[handle]bool{}
		}
		changed := map[handle]bool{}
		for frame := 0; b.Loop(); frame++ {
			f.step(b, frame)
			_ = f.Read(b.Context(), func(context.Context) error {
				clear(changed)
				for h := range store.Written(f.units) {
					changed[h] = true
				}
				inParallel(clients, func(i int) {
					sum, has, now := 0, all[i], make(map[handle]bool, inView)
					for _, h := range seen(f.hs, i, frame) {
						if now[h] = true; !has[h] || changed[h] {
							sum += f.units.At(h).N
						}
						delete(has, h)
					}
					sum += len(has) // left
					all[i] = now
				})
				return nil
			})
		}
	})
	b.Run("frame", func(b *testing.B) {
		f := newCrowd(b, items)
		for frame := 0; b.Loop(); frame++ {
			f.step(b, frame)
		}
	})
}

type crowd struct {
	*field
	hs []handle
}

func newCrowd(b *testing.B, n int) *crowd {
	f := &field{Store: store.New(store.Options{})}
	f.units = store.Register(f.Store, store.TableOptions[unit]{Changes: true})
	hs := f.insert(b, n)
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { hs[i], hs[j] = hs[j], hs[i] })
	return &crowd{f, hs}
}

func (f *crowd) step(b *testing.B, frame int) {
	_ = f.units.ForEach(b.Context(), func(c store.Chunk[unit]) {
		for i := range c.Items {
			if (i+frame)%10 == 0 {
				c.Items[i].N++
				c.Wrote(i)
			}
		}
	})
	_, _ = f.Flush(b.Context())
}

// inParallel calls f on all processors.
func inParallel(n int, f func(i int)) {
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	group.Wait()
}
