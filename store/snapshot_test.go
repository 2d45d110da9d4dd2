package store_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"handloom/internal/entrance"
	snapshot "handloom/internal/image"
	"handloom/store"
)

// The encoding of unit and plan is equal on every machine.
type unit struct {
	X, Y  int32
	Alive bool
	Plan  store.Handle[plan]
}

type plan struct {
	Name  string
	Steps []int
	Odds  map[uint8]float64
}

type realm struct {
	*store.Store
	units *store.Table[unit]
	plans *store.StableTable[plan]
}

func newRealm(t tb, workers int) *realm {
	t.Helper()
	s := newStore(t, store.Options{Workers: workers})
	return &realm{
		s,
		register(t, s, store.TableOptions[unit]{Name: "units", Shards: 3, MinFree: 2, ChunkItems: 16}),
		registerStable(t, s, store.TableOptions[plan]{Name: "plans", Shards: 2, Clone: clonePlan, FixedKeys: true}),
	}
}

func clonePlan(dst, src *plan) {
	*dst = plan{Name: src.Name, Steps: slices.Clone(src.Steps)}
	if src.Odds != nil {
		dst.Odds = map[uint8]float64{}
		maps.Copy(dst.Odds, src.Odds)
	}
}

func (w *realm) tick(t tb, seed uint64) {
	t.Helper()
	ctx := context.Background()
	err := w.Each(ctx, 4, func(task int, q store.Queue) {
		r := rand.New(rand.NewPCG(seed, uint64(task)))
		for range r.IntN(30) {
			p := plan{Name: fmt.Sprint("plan ", r.IntN(100)), Steps: make([]int, r.IntN(4))}
			if r.IntN(3) == 0 {
				p.Odds = map[uint8]float64{uint8(r.IntN(9)): 0.5, uint8(r.IntN(9)): float64(r.IntN(5))}
			}
			w.units.Emplace(q, unit{X: r.Int32N(50), Alive: r.IntN(2) == 0, Plan: w.plans.Emplace(q, p)})
		}
	})
	if err == nil {
		err = w.units.ForEach(ctx, func(c store.Chunk[unit]) {
			r := rand.New(rand.NewPCG(seed, uint64(100+c.Index)))
			for i := range c.Items {
				c.Items[i].Y++
				if r.IntN(8) == 0 {
					c.Erase(i)
					w.plans.Erase(c.Queue, c.Items[i].Plan)
				}
			}
		})
	}
	noError(t, err)
	flush(t, w.Store)
	r := rand.New(rand.NewPCG(seed, 7))
	_, err = w.Frame(ctx, func(ctx context.Context, x *store.Writer) error {
		switch r.IntN(12) {
		case 0:
			w.units.Clear(x)
		case 1:
			w.plans.Clear(x)
		}
		byX := func(a, b *unit) int { return int(a.X) - int(b.X) }
		_, _, err := store.Defragment(ctx, w.units, x, byX, 1+r.IntN(60))
		return err
	})
	noError(t, err)
}

func image(t tb, s *store.Store) []byte {
	t.Helper()
	var b bytes.Buffer
	noError(t, s.Snapshot(context.Background(), &b))
	return b.Bytes()
}

func TestLoad_ContinuesAsTheSavedStore(t *testing.T) {
	ctx := context.Background()
	seeds := uint64(12)
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		live, loaded, rolled := newRealm(t, 2), newRealm(t, 1), newRealm(t, 8)
		for tick := range seed * 3 {
			live.tick(t, seed<<8|tick)
		}
		loaded.tick(t, 1)
		b := image(t, live.Store)

		var saved, read store.Checkpoint
		checkpoint(t, live.Store, &saved)
		*saved.Entrance(entrance.Key{}) = snapshot.Tag{At: 5, Tick: seed, Version: "one"}
		var written, again bytes.Buffer
		if n, err := saved.WriteTo(&written); err != nil || n != int64(written.Len()) {
			t.Fatalf("WriteTo = %d, %v", n, err)
		}
		*saved.Entrance(entrance.Key{}) = snapshot.Tag{}
		if _, err := saved.WriteTo(&again); err != nil || !bytes.Equal(again.Bytes(), b) {
			t.Fatal("equal states are not equal bytes")
		}

		r := bytes.NewReader(append(b, "behind it"...))
		noError(t, loaded.Load(ctx, r))
		equal(t, "bytes left after the snapshot", r.Len(), len("behind it"))
		noError(t, rolled.ReadCheckpoint(ctx, iotest.HalfReader(&written), &read))
		equal(t, "tag", *read.Entrance(entrance.Key{}), snapshot.Tag{At: 5, Tick: seed, Version: "one"})
		rollback(t, rolled.Store, &read)
		for tick := range uint64(10) {
			want := digest(t, live.Store)
			for _, w := range []*realm{loaded, rolled} {
				if err := w.Verify(ctx); err != nil || digest(t, w.Store) != want || w.Epoch() != live.Epoch() {
					t.Fatalf("seed %d, tick %d: digest %x, want %x; epoch %d, want %d; %v", seed, tick, digest(t, w.Store), want, w.Epoch(), live.Epoch(), err)
				}
			}
			for _, w := range []*realm{live, loaded, rolled} {
				w.tick(t, 1000+tick)
			}
		}
	}
}

// One cut after each byte, and one flip in each byte.
func TestLoad_RefusesCutsAndFlips(t *testing.T) {
	w := newRealm(t, 1)
	q := queues(t, w.Store, 1)[0]
	for i := range 7 {
		p := w.plans.Emplace(q, plan{Name: "go", Steps: []int{i}, Odds: map[uint8]float64{1: 2}})
		w.units.Emplace(q, unit{X: int32(i), Alive: true, Plan: p})
	}
	flush(t, w.Store)
	b := image(t, w.Store)
	other := newRealm(t, 1)
	other.tick(t, 9)
	before := digest(t, other.Store)
	refuses := func(b []byte, what string, at int) {
		t.Helper()
		err := other.Load(context.Background(), bytes.NewReader(b))
		if !errors.Is(err, store.ErrSnapshot) || !strings.Contains(err.Error(), "block ") {
			t.Fatalf("%s %d: Load: %v", what, at, err)
		}
		_, err = snapshot.Inspect(bytes.NewReader(b))
		if where := new(snapshot.Error); !errors.Is(err, store.ErrSnapshot) || !errors.As(err, &where) {
			t.Fatalf("%s %d: Inspect: %v", what, at, err)
		}
	}
	for n := range len(b) {
		refuses(b[:n], "cut at", n)
		flipped := slices.Clone(b)
		flipped[n] ^= 1 << (n % 8)
		refuses(flipped, "flipped at", n)
	}
	equal(t, "digest after a snapshot that was refused", digest(t, other.Store), before)
}

func TestLoad_RefusesOtherTables(t *testing.T) {
	type other struct {
		X, Y  float64
		Alive bool
		Plan  store.Handle[plan]
	}
	w := newRealm(t, 1)
	w.tick(t, 1)
	b := image(t, w.Store)
	units := store.TableOptions[unit]{Name: "units", Shards: 3, MinFree: 2}
	plans := store.TableOptions[plan]{Name: "plans", Shards: 2, Clone: clonePlan, FixedKeys: true}
	more, less := units, units
	more.Shards, less.MinFree = 4, 0
	for name, c := range map[string]struct {
		register func(s *store.Store)
		want     []string
	}{
		"another encoding": {func(s *store.Store) {
			register(t, s, store.TableOptions[other]{Name: "units", Shards: 3, MinFree: 2})
			registerStable(t, s, plans)
		}, []string{"X int32", "X float64"}},
		"more shards": {func(s *store.Store) {
			register(t, s, more)
			registerStable(t, s, plans)
		}, []string{`"units"`}},
		"another MinFree": {func(s *store.Store) {
			register(t, s, less)
			registerStable(t, s, plans)
		}, []string{"MinFree is 2, not 0"}},
		"another kind": {func(s *store.Store) {
			register(t, s, units)
			register(t, s, plans)
		}, []string{`"plans"`}},
		"a table less": {func(s *store.Store) { register(t, s, units) }, []string{`"plans": not in the store`}},
		"other typeIds": {func(s *store.Store) {
			registerStable(t, s, plans)
			register(t, s, units)
		}, []string{"place among the typeIds"}},
	} {
		s := newStore(t, store.Options{})
		c.register(s)
		err := s.Load(context.Background(), bytes.NewReader(b))
		equal(t, name+": ErrSchema", errors.Is(err, store.ErrSchema), name != "another MinFree")
		wantError(t, name, err, store.ErrSnapshot, c.want...)
		equal(t, name+": names of the sentinel", strings.Count(err.Error(), store.ErrSnapshot.Error()), 1)
	}
	// An additional table is empty.
	bigger := newRealm(t, 1)
	extra := register(t, bigger.Store, store.TableOptions[item]{Name: "extra"})
	fill(t, bigger.Store, extra, 3)
	if err := bigger.Load(context.Background(), bytes.NewReader(b)); err != nil || extra.Len() != 0 || bigger.units.Len() != w.units.Len() {
		t.Errorf("%d items in a table that the snapshot does not have, %v", extra.Len(), err)
	}
}

var updateSnapshot = flag.Bool("update-snapshot", false, "write testdata/world.snap anew")

// The file is from amd64; the tests also run on 32 bits.
func TestLoad_ReadsSnapshotsOfOtherMachines(t *testing.T) {
	const wantDigest = 0x2629ecfa7d14ab0d
	path := filepath.Join("testdata", "world.snap")
	w := newRealm(t, 2)
	for tick := range uint64(4) {
		w.tick(t, tick)
	}
	b := image(t, w.Store)
	if *updateSnapshot {
		noError(t, os.WriteFile(path, b, 0o644))
		t.Logf("digest %#x", digest(t, w.Store))
	}
	golden, err := os.ReadFile(path)
	noError(t, err)
	equal(t, "the same state is the same bytes on this machine", bytes.Equal(b, golden), true)
	other := newRealm(t, 1)
	noError(t, other.Load(context.Background(), bytes.NewReader(golden)))
	equal(t, "digest", digest(t, other.Store), wantDigest)
}

type deep []deep

func deepOf(n int) (d deep) {
	for range n - 1 {
		d = deep{d}
	}
	return d
}

// The error names the table, and no file is replaced.
func TestSnapshot_RefusesUnloadableItems(t *testing.T) {
	for name, c := range map[string]struct {
		fill func(t *testing.T, s *store.Store) func(q store.Queue)
		fits bool
		long bool
	}{
		"item 1000 deep":     {putDeep(0, 1000), true, false},
		"item 1001 deep":     {putDeep(0, 1001), false, false},
		"element 1000 deep":  {putDeep(1, 1000), true, false},
		"element 1001 deep":  {putDeep(1, 1001), false, false},
		"optional 1000 deep": {putDeep(2, 1000), true, false},
		"optional 1001 deep": {putDeep(2, 1001), false, false},
		"item of 66 MiB":     {putLong(66 << 20), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.long && testing.Short() {
				t.Skip("it takes 64 MiB a few times")
			}
			ctx := context.Background()
			s, read := newStore(t, store.Options{Workers: 1}), newStore(t, store.Options{Workers: 1})
			put := c.fill(t, s)
			c.fill(t, read)
			put(queues(t, s, 1)[0])
			flush(t, s)
			var b, written bytes.Buffer
			err := s.Snapshot(ctx, &b)
			var saved store.Checkpoint
			checkpoint(t, s, &saved)
			_, writeErr := saved.WriteTo(&written)
			for _, err := range []error{err, writeErr} {
				equal(t, "it succeeds", err == nil, c.fits)
				if err != nil && (!errors.Is(err, store.ErrSnapshot) || !strings.Contains(err.Error(), `table "items"`)) {
					t.Errorf("error %v, want ErrSnapshot that names the table", err)
				}
			}
			if !c.fits {
				return
			}
			wantError(t, "Load", read.Load(ctx, &b), nil)
			equal(t, "digest after Load", digest(t, read), digest(t, s))
		})
	}
}

// putDeep fills a table with a value of depth n: an item, an element, or sparse data.
func putDeep(part, n int) func(t *testing.T, s *store.Store) func(q store.Queue) {
	clone := func(dst, src *deep) { *dst = *src }
	return func(t *testing.T, s *store.Store) func(q store.Queue) {
		table := register(t, s, store.TableOptions[deep]{Name: "items", Clone: clone})
		column := addColumn(t, table, store.ColumnOptions[deep]{Name: "column", Clone: clone})
		some := store.AddSparse(table, store.ColumnOptions[deep]{Name: "some", Clone: clone})
		all := [3]deep{}
		all[part] = deepOf(n)
		return func(q store.Queue) {
			h := table.Emplace(q, all[0])
			column.Set(q, h, all[1])
			some.Set(q, h, all[2])
		}
	}
}

func putLong(n int) func(t *testing.T, s *store.Store) func(q store.Queue) {
	type item struct{ Text, More []byte }
	return func(t *testing.T, s *store.Store) func(q store.Queue) {
		table := register(t, s, store.TableOptions[item]{Name: "items", Clone: func(dst, src *item) { *dst = *src }})
		return func(q store.Queue) { table.Emplace(q, item{Text: make([]byte, n-5), More: []byte("bytes")}) }
	}
}

func TestSnapshot_NamesTheFixForPointers(t *testing.T) {
	type pointing struct{ Next *int }
	s := newStore(t, store.Options{})
	register(t, s, store.TableOptions[pointing]{Name: "pointing"})
	err := s.Snapshot(context.Background(), io.Discard)
	wantError(t, "Snapshot", err, store.ErrSnapshot, `"pointing"`, "pointing.Next of kind ptr", "by its handle")
}

func TestLoad_RefusesOtherFiles(t *testing.T) {
	s := newStore(t, store.Options{})
	for text, want := range map[string]string{
		"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01 and so on": "no snapshot of Handloom",
		"HLSNAP\x00\x02 and so on":                       "got version 2, want 1",
		"":                                               io.ErrUnexpectedEOF.Error(),
		"HLSNAP":                                         io.ErrUnexpectedEOF.Error(),
	} {
		err := s.Load(context.Background(), strings.NewReader(text))
		wantError(t, text, err, store.ErrSnapshot, want)
	}
	broken := errors.New("the disk is broken")
	wantError(t, "Load", s.Load(context.Background(), iotest.ErrReader(broken)), broken)
}
