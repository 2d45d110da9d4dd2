package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"runtime/metrics"
	"slices"
	"testing"

	"handloom/internal/check"
	hash "handloom/internal/digest"
	snapshot "handloom/internal/image"
	"handloom/store"
)

var (
	forgeryCount = flag.Int("forgeries", 0, "how many forged snapshots TestLoad_AcceptsOrRefusesForgeries loads; 0: few")
	forgerySeed  = flag.Uint64("forgery-seed", 1, "the first forged snapshot of TestLoad_AcceptsOrRefusesForgeries")
)

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
	g := &grove{Store: s, trees: register(t, s, store.TableOptions[tree]{Name: "trees", MinFree: 2})}
	g.shade = addColumn(t, g.trees, store.ColumnOptions[treeOfMaps]{Name: "shade"})
	g.nests = addSparse(t, g.trees, store.ColumnOptions[treeOfArrays]{Name: "nests"})
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
	noError(t, onlyError(g.Frame(context.Background(), func(ctx context.Context, w *store.Writer) error {
		_, _, err := store.Defragment(ctx, g.trees, w, byV, 1+r.IntN(10))
		return err
	})))
}

type shardImage struct {
	table, shard uint16
	payload      []byte
}

func shardsOf(b []byte) (all []shardImage) {
	for at := headOf(b); at+16 <= len(b); {
		end := at + 16 + int(binary.LittleEndian.Uint32(b[at:]))
		if end > len(b) {
			break
		}
		if b[at+8] == 0 {
			table, shard := binary.LittleEndian.Uint16(b[at+4:]), binary.LittleEndian.Uint16(b[at+6:])
			if n := len(all); n == 0 || all[n-1].table != table || all[n-1].shard != shard {
				all = append(all, shardImage{table: table, shard: shard})
			}
			last := &all[len(all)-1]
			last.payload = append(last.payload, b[at+16:end]...)
		}
		at = end
	}
	return all
}

// reblocked appends the blocks of shards to a header, of size bytes each, with valid digests.
func reblocked(head []byte, shards []shardImage, size int) []byte {
	b := slices.Clone(head)
	block := func(shard shardImage, kind byte, payload []byte) {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
		b = binary.LittleEndian.AppendUint16(b, shard.table)
		b = binary.LittleEndian.AppendUint16(b, shard.shard)
		b = append(b, kind, 0, 0, 0, 0, 0, 0, 0)
		b = append(b, payload...)
	}
	for _, shard := range shards {
		for part := range slices.Chunk(shard.payload, size) {
			block(shard, 0, part)
		}
		block(shard, 1, make([]byte, 8))
	}
	block(shardImage{}, 2, make([]byte, 12))
	return signed(b)
}

func headOf(b []byte) int {
	if len(b) < 12 {
		return len(b)
	}
	return 16 + int(binary.LittleEndian.Uint32(b[8:]))
}

func signed(b []byte) []byte {
	b = slices.Clone(b)
	table := crc32.MakeTable(crc32.Castagnoli)
	var shard, whole hash.Hash
	at, count := headOf(b), uint32(0)
	if at > len(b) || at < 16 {
		return b
	}
	binary.LittleEndian.PutUint32(b[at-4:], crc32.Checksum(b[12:at-4], table))
	for ; at+16 <= len(b); count++ {
		end := at + 16 + int(binary.LittleEndian.Uint32(b[at:]))
		if end > len(b) {
			break
		}
		switch payload := b[at+16 : end]; {
		case b[at+8] == 0:
			shard.Bytes(payload)
		case b[at+8] == 1 && len(payload) == 8:
			binary.LittleEndian.PutUint64(payload, shard.Sum())
			whole.Uint64(shard.Sum())
			shard = hash.Hash{}
		case b[at+8] == 2 && len(payload) == 12:
			binary.LittleEndian.PutUint64(payload, whole.Sum())
			binary.LittleEndian.PutUint32(payload[8:], count)
		}
		sum := crc32.Update(crc32.Checksum(b[at:at+12], table), table, b[at+16:end])
		binary.LittleEndian.PutUint32(b[at+12:], sum)
		at = end
	}
	return b
}

// forged returns a changed snapshot with valid digests. plain reports whether its form is
// canonical.
func forged(r *rand.Rand, b []byte) (forged []byte, plain bool) {
	head := slices.Clone(b[:headOf(b)])
	shards := shardsOf(b)
	for range 1 + r.IntN(3) {
		shard := &shards[r.IntN(len(shards))]
		p := slices.Clone(shard.payload)
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
		case 4: // a plausible length
			if at+8 <= len(p) {
				binary.LittleEndian.PutUint64(p[at:], uint64((len(p)-at)/(1+r.IntN(20))))
			}
		case 5:
			p = slices.Insert(p, at, make([]byte, 1+r.IntN(17))...)
		case 6:
			p = slices.Delete(p, at, min(at+1+r.IntN(17), len(p)))
		case 7:
			from := r.IntN(len(p))
			p = slices.Insert(p, at, slices.Clone(p[from:min(from+r.IntN(40), len(p))])...)
		default:
			p, shards[0].payload = shards[0].payload, p
		}
		if len(p) > 0 {
			shard.payload = p
		}
	}
	plain = true
	if r.IntN(20) == 0 {
		plain = false
		head[12+r.IntN(len(head)-16)] ^= 1 << r.IntN(8)
	}
	size := blockBytes
	if r.IntN(20) == 0 {
		plain, size = false, 1+r.IntN(200)
	}
	return reblocked(head, shards, size), plain
}

// heapBytes lacks some bytes that the runtime has not counted.
func heapBytes() uint64 {
	var sample [1]metrics.Sample
	sample[0].Name = "/gc/heap/allocs:bytes"
	metrics.Read(sample[:])
	return sample[0].Value.Uint64()
}

// takes reports whether Load accepts b. Inspect must accept it, too, and Verify the state.
func takes(t *testing.T, s *store.Store, b []byte) bool {
	t.Helper()
	ctx := context.Background()
	before := heapBytes()
	err := s.Load(ctx, bytes.NewReader(b))
	if most := uint64(32*len(b) + 1<<20); heapBytes()-before > most {
		// The runtime counts in bulk, and completely while the world is stopped.
		atMost(t, "allocated bytes", allocated(func() { _ = s.Load(ctx, bytes.NewReader(b)) }), most)
	}
	_, inspectErr := snapshot.Inspect(bytes.NewReader(b))
	if inspectErr != nil && (err == nil || !errors.Is(inspectErr, store.ErrSnapshot)) {
		t.Fatalf("Inspect: %v; Load: %v", inspectErr, err)
	}
	if err != nil {
		if !errors.Is(err, store.ErrSnapshot) || len(err.Error()) > 64<<10 {
			t.Fatalf("Load: %.300v", err)
		}
		return false
	}
	noError(t, s.Verify(ctx))
	return true
}

// A forgery is refused, or it is the snapshot of the state that it is loaded as.
func TestLoad_AcceptsOrRefusesForgeries(t *testing.T) {
	n := *forgeryCount
	switch {
	case n > 0:
	case testing.Short() || check.Cheap:
		n = 500
	default:
		n = 8_000
	}
	var images [][]byte
	live := newGrove(t)
	for seed := range uint64(30) {
		live.grow(t, seed)
		b := image(t, live.Store)
		if !bytes.Equal(reblocked(b[:headOf(b)], shardsOf(b), blockBytes), b) {
			t.Fatal("blocks that are made again are others")
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

// survives reports whether g accepts a forgery. A plain one is the snapshot of the loaded
// state.
func (g *grove) survives(t *testing.T, seed uint64, images [][]byte) bool {
	defer func() {
		if v := recover(); v != nil || t.Failed() {
			t.Errorf("-forgeries 1 -forgery-seed %d: %v", seed, v)
		}
	}()
	r := rand.New(rand.NewPCG(seed, 4))
	b, plain := forged(r, images[r.IntN(len(images))])
	if !takes(t, g.Store, b) {
		return false
	}
	if plain && !bytes.Equal(image(t, g.Store), b) {
		t.Fatal("it is loaded as something else")
	}
	if seed%4 == 0 {
		g.grow(t, seed)
		noError(t, g.Verify(context.Background()))
	}
	return true
}

// The store must work after each accepted Load.
func FuzzLoad(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	g := newGrove(f)
	for seed := range uint64(4) {
		g.grow(f, seed)
		b := image(f, g.Store)
		f.Add(b, uint32(blockBytes))
		for range 5 {
			forged, _ := forged(r, b)
			f.Add(forged, uint32(blockBytes))
			f.Add(forged, uint32(1+r.IntN(300)))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, size uint32) {
		b = signed(b)
		all := [][]byte{b}
		if at := headOf(b); 16 <= at && at <= len(b) {
			all = append(all, reblocked(b[:at], shardsOf(b), int(min(max(size, 1), blockBytes))))
		}
		for _, b := range all {
			if g := newGrove(t); takes(t, g.Store, b) {
				g.grow(t, uint64(size))
			}
		}
	})
}
