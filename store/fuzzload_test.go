package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime/metrics"
	"testing"

	"handloom/internal/check"
	snapshot "handloom/internal/image"
	"handloom/store"
)

var (
	forgeryCount = flag.Int("forgeries", 0, "how many forged snapshots TestLoad_TakesForgeriesOrRefusesThem loads; 0: few")
	forgerySeed  = flag.Uint64("forgery-seed", 1, "the first forged snapshot of TestLoad_TakesForgeriesOrRefusesThem")
)

// grove is a store of tables whose items contain themselves, with a column and optional
// data, and of a stable table.
type grove struct {
	*store.Store
	trees *store.Table[tree]
	shade *store.Column[tree, treeOfMaps]
	nests *store.Sparse[tree, treeOfArrays]
	plans *store.StableTable[plan]
}

func newGrove(t tb) *grove {
	t.Helper()
	s := newStore(t, store.Options{Workers: 1})
	g := &grove{Store: s}
	g.trees = register(t, s, store.TableOptions[tree]{Name: "trees"})
	var err error
	if g.shade, err = store.AddColumn(g.trees, store.ColumnOptions[treeOfMaps]{Name: "shade"}); err == nil {
		g.nests, err = store.AddSparse(g.trees, store.ColumnOptions[treeOfArrays]{Name: "nests"})
	}
	if err != nil {
		t.Fatal(err)
	}
	g.plans = registerStable(t, s, store.TableOptions[plan]{Name: "plans", Shards: 2})
	return g
}

func drawTree(r *rand.Rand, depth int) (v tree) {
	v.V = uint8(r.Uint32())
	for range r.IntN(4 - min(depth, 3)) {
		v.Kids = append(v.Kids, drawTree(r, depth+1))
	}
	return v
}

func drawMaps(r *rand.Rand, depth int) (v treeOfMaps) {
	v.Name = "name"[:r.IntN(5)]
	for range r.IntN(3 - min(depth, 2)) {
		if v.Kids == nil {
			v.Kids = map[uint8]treeOfMaps{}
		}
		v.Kids[uint8(r.IntN(5))] = drawMaps(r, depth+1)
	}
	return v
}

func drawArrays(r *rand.Rand, depth int) (v treeOfArrays) {
	for i := range v.Pairs {
		for range r.IntN(3 - min(depth, 2)) {
			v.Pairs[i] = append(v.Pairs[i], drawArrays(r, depth+1))
		}
	}
	return v
}

// grow changes the grove by the seed and by nothing else.
func (g *grove) grow(t tb, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 3))
	q := queues(t, g.Store, 1)[0]
	for h := range g.trees.All() {
		switch r.IntN(6) {
		case 0:
			g.trees.Erase(q, h)
		case 1:
			g.nests.Unset(q, h)
		case 2:
			g.shade.Set(q, h, drawMaps(r, 0))
		}
	}
	for h := range g.plans.All() {
		if r.IntN(4) == 0 {
			g.plans.Erase(q, h)
		}
	}
	for range r.IntN(6) {
		h := g.trees.Emplace(q, drawTree(r, 0))
		g.shade.Set(q, h, drawMaps(r, 0))
		if r.IntN(2) == 0 {
			g.nests.Set(q, h, drawArrays(r, 0))
		}
		g.plans.Emplace(q, plan{Name: "plan", Steps: make([]int, r.IntN(3)), Odds: map[uint8]float64{uint8(r.IntN(3)): 1}})
	}
	flush(t, g.Store)
	if r.IntN(3) > 0 {
		return
	}
	byV := func(a, b *tree) int { return int(a.V) - int(b.V) }
	err := g.Write(context.Background(), func(ctx context.Context, w *store.Writer) error {
		_, _, err := store.Defragment(ctx, g.trees, w, byV, 1+r.IntN(10))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A shardImage is the bytes of one shard of a snapshot.
type shardImage struct {
	table, shard uint16
	payload      []byte
}

// shardsOf returns the bytes of each shard that b has frames of.
func shardsOf(b []byte) (all []shardImage) {
	for _, f := range framesOf(b) {
		table, shard := binary.LittleEndian.Uint16(b[f.at+4:]), binary.LittleEndian.Uint16(b[f.at+6:])
		if n := len(all); n == 0 || all[n-1].table != table || all[n-1].shard != shard {
			all = append(all, shardImage{table: table, shard: shard})
		}
		last := &all[len(all)-1]
		last.payload = append(last.payload, b[f.at+16:f.end]...)
	}
	return all
}

// reframed appends the frames of shards to a header, of size bytes each, with checksums
// and digests that are right.
func reframed(head []byte, shards []shardImage, size int) []byte {
	b := append([]byte(nil), head...)
	frame := func(of shardImage, kind byte, payload []byte) {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
		b = binary.LittleEndian.AppendUint16(b, of.table)
		b = binary.LittleEndian.AppendUint16(b, of.shard)
		b = append(b, kind, 0, 0, 0, 0, 0, 0, 0)
		b = append(b, payload...)
	}
	for _, of := range shards {
		for rest := of.payload; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			frame(of, 0, rest[:min(size, len(rest))])
		}
		frame(of, 1, make([]byte, 8))
	}
	frame(shardImage{}, 2, make([]byte, 12))
	b, _ = signed(b)
	return b
}

// forge returns another snapshot than b, with checksums and digests that are right, and
// whether its header and frames are such as a writer makes.
func forge(r *rand.Rand, b []byte) (forged []byte, plain bool) {
	head := append([]byte(nil), b[:headOf(b)]...)
	shards := shardsOf(b)
	for range 1 + r.IntN(3) {
		of := &shards[r.IntN(len(shards))]
		p := append([]byte(nil), of.payload...)
		if len(p) < 16 {
			continue
		}
		at := r.IntN(len(p))
		switch r.IntN(9) {
		case 0:
			p[at] ^= 1 << r.IntN(8)
		case 1:
			p[at] = byte(r.IntN(4))
		case 2:
			p[at]++
		case 3:
			copy(p[at:min(at+8, len(p))], p[r.IntN(len(p)):])
		case 4: // a length that might be believed
			if at+8 <= len(p) {
				binary.LittleEndian.PutUint64(p[at:], uint64((len(p)-at)/(1+r.IntN(20))))
			}
		case 5:
			p = append(p[:at:at], append(make([]byte, 1+r.IntN(17)), p[at:]...)...)
		case 6:
			p = append(p[:at:at], p[min(at+1+r.IntN(17), len(p)):]...)
		case 7:
			from := r.IntN(len(p))
			p = append(p[:at:at], append(append([]byte(nil), p[from:min(from+r.IntN(40), len(p))]...), p[at:]...)...)
		default:
			of.payload, shards[0].payload = shards[0].payload, p
			continue
		}
		of.payload = p
	}
	plain = true
	if r.IntN(20) == 0 {
		plain = false
		head[12+r.IntN(len(head)-16)] ^= 1 << r.IntN(8)
	}
	size := frameBytes
	if r.IntN(20) == 0 {
		plain, size = false, 1+r.IntN(200)
	}
	return reframed(head, shards, size), plain
}

// heapBytes is how many bytes were allocated, but for some that the runtime has not counted.
type heapBytes [1]metrics.Sample

func (h *heapBytes) allocated() uint64 {
	h[0].Name = "/gc/heap/allocs:bytes"
	metrics.Read(h[:])
	return h[0].Value.Uint64()
}

// takes loads what may be forged into g, which goes on with it, and reports whether it is
// taken. A plain one is the snapshot of what it becomes.
func (g *grove) takes(t *testing.T, b []byte, plain bool) bool {
	ctx := context.Background()
	var h heapBytes
	before := h.allocated()
	err := g.Load(ctx, bytes.NewReader(b))
	if most := uint64(32*len(b) + 1<<20); h.allocated()-before > most {
		// The runtime counts in bulk. All is counted when the world is stopped.
		if grew := allocated(func() { _ = g.Load(ctx, bytes.NewReader(b)) }); grew > most {
			t.Fatalf("%d bytes allocated for %d, want at most %d", grew, len(b), most)
		}
	}
	if _, inspectErr := snapshot.Inspect(bytes.NewReader(b)); err == nil && inspectErr != nil {
		t.Fatalf("Load takes it, Inspect: %v", inspectErr)
	}
	if err != nil {
		if !errors.Is(err, store.ErrSnapshot) || len(err.Error()) > 64<<10 {
			t.Fatalf("Load: %.300v", err)
		}
		return false
	}
	if err := g.Verify(ctx); err != nil {
		t.Fatal(err)
	}
	if plain && !bytes.Equal(image(t, g.Store), b) {
		t.Fatal("it is loaded as something else")
	}
	return true
}

// Whatever a forger makes of a snapshot, with checksums and digests that are right, is
// refused, or it is the snapshot of the state that it is loaded as, from which the store
// goes on.
func TestLoad_TakesForgeriesOrRefusesThem(t *testing.T) {
	n := *forgeryCount
	switch {
	case n > 0:
	case testing.Short() || check.Cheap:
		n = 500
	default:
		n = 10_000
	}
	var images [][]byte
	live := newGrove(t)
	for seed := range uint64(30) {
		live.grow(t, seed)
		b := image(t, live.Store)
		if !bytes.Equal(reframed(b[:headOf(b)], shardsOf(b), frameBytes), b) {
			t.Fatal("frames that are made again are others")
		}
		images = append(images, b)
	}
	taken := 0
	for first := 0; first < n; first += 50_000 {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			g := newGrove(t)
			for i := first; i < min(n, first+50_000); i++ {
				if g.survives(t, *forgerySeed+uint64(i), images) {
					taken++
				}
			}
		})
	}
	t.Logf("%d of %d forgeries were taken", taken, n)
	if n > 100 && (taken < n/100 || taken > n*9/10) {
		t.Errorf("%d of %d forgeries were taken", taken, n)
	}
}

// survives forges one of images as a seed says, and reports whether g takes it.
func (g *grove) survives(t *testing.T, seed uint64, images [][]byte) (taken bool) {
	defer func() {
		if v := recover(); v != nil || t.Failed() {
			t.Errorf("-forgeries 1 -forgery-seed %d: %v", seed, v)
		}
	}()
	r := rand.New(rand.NewPCG(seed, 4))
	b, plain := forge(r, images[r.IntN(len(images))])
	if taken = g.takes(t, b, plain); taken && seed%8 == 0 {
		g.grow(t, seed)
		if err := g.Verify(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	return taken
}

// FuzzLoad loads any bytes behind the head of a snapshot, in frames of any size, whose
// checksums and digests are made right. The store goes on with what is not refused.
func FuzzLoad(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	w, g := newRealm(f, 1), newGrove(f)
	for seed := range uint64(4) {
		w.tick(f, seed)
		g.grow(f, seed)
		for _, b := range [][]byte{image(f, w.Store), image(f, g.Store)} {
			f.Add(b, uint32(frameBytes))
			for range 5 {
				f.Add(forged(r, b), uint32(frameBytes))
				f.Add(forged(r, b), uint32(1+r.IntN(300)))
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, size uint32) {
		b, _ = signed(b)
		loadAndGoOn(t, newRealm(t, 2), b)
		newGrove(t).takes(t, b, false)
		if at := headOf(b); 16 <= at && at <= len(b) {
			b = reframed(b[:at], shardsOf(b), int(min(max(size, 1), frameBytes)))
			loadAndGoOn(t, newRealm(t, 2), b)
			newGrove(t).takes(t, b, false)
		}
	})
}
