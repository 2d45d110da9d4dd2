package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"handloom/internal/check"
	hash "handloom/internal/digest"
	"handloom/store"
)

// unit and plan are the items of a realm; their encoding is the same on every
// machine.
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

// realm is a store of both kinds of tables that changes as seeds say.
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

// tick changes the realm by the seed and by nothing else.
func (w *realm) tick(t tb, seed uint64) {
	t.Helper()
	ctx := context.Background()
	err := w.Each(ctx, 4, func(ctx context.Context, task int, q store.Queue) error {
		r := rand.New(rand.NewPCG(seed, uint64(task)))
		for range r.IntN(30) {
			p := plan{Name: fmt.Sprint("plan ", r.IntN(100)), Steps: make([]int, r.IntN(4))}
			if r.IntN(3) == 0 {
				p.Odds = map[uint8]float64{uint8(r.IntN(9)): 0.5, uint8(r.IntN(9)): float64(r.IntN(5))}
			}
			w.units.Emplace(q, unit{X: r.Int32N(50), Alive: r.IntN(2) == 0, Plan: w.plans.Emplace(q, p)})
		}
		return nil
	})
	if err == nil {
		err = w.units.ForEach(ctx, func(_ context.Context, c store.Chunk[unit]) error {
			r := rand.New(rand.NewPCG(seed, uint64(100+c.Index)))
			for i := range c.Items {
				c.Items[i].Y++
				if r.IntN(8) == 0 {
					c.Erase(i)
					w.plans.Erase(c.Queue, c.Items[i].Plan)
				}
			}
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	flush(t, w.Store)
	r := rand.New(rand.NewPCG(seed, 7))
	err = w.Write(ctx, func(ctx context.Context, x *store.Writer) error {
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
	if err != nil {
		t.Fatal(err)
	}
}

// image returns the snapshot of a store.
func image(t tb, s *store.Store) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := s.Snapshot(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A store that was read goes on as the one that was written, whatever its workers,
// and by either way of reading.
func TestAStoreThatWasReadGoesOnAsTheOneThatWasWritten(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(12) {
		live, loaded, rolled := newRealm(t, 2), newRealm(t, 1), newRealm(t, 8)
		for tick := range seed * 3 {
			live.tick(t, seed<<8|tick)
		}
		loaded.tick(t, 1) // what a store had before does not matter
		b := image(t, live.Store)

		var saved, read store.Checkpoint
		checkpoint(t, live.Store, &saved)
		saved.SetTag(store.Tag{At: 5, Tick: seed, Program: "one"})
		var written bytes.Buffer
		if n, err := saved.WriteTo(&written); err != nil || n != int64(written.Len()) {
			t.Fatalf("WriteTo = %d, %v", n, err)
		}
		saved.SetTag(store.Tag{})
		var again bytes.Buffer
		if _, err := saved.WriteTo(&again); err != nil || !bytes.Equal(again.Bytes(), b) {
			t.Fatal("equal states are not equal bytes")
		}

		r := bytes.NewReader(append(b, "behind it"...))
		if err := loaded.Load(ctx, r); err != nil {
			t.Fatal(err)
		}
		if r.Len() != len("behind it") {
			t.Errorf("%d bytes behind the snapshot are left", r.Len())
		}
		if err := rolled.ReadCheckpoint(ctx, iotest.HalfReader(&written), &read); err != nil {
			t.Fatal(err)
		}
		if read.Tag() != (store.Tag{At: 5, Tick: seed, Program: "one"}) {
			t.Errorf("the tag is %+v", read.Tag())
		}
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

func TestHandlesOfBeforeASaveAreStaleAfterTheLoad(t *testing.T) {
	w := newRealm(t, 2)
	for tick := range uint64(6) {
		w.tick(t, tick)
	}
	var live, gone []store.Handle[unit]
	for h := range w.units.All() {
		live = append(live, h)
	}
	w.tick(t, 6)
	for _, h := range live {
		if !w.units.Has(h) {
			gone = append(gone, h)
		}
	}
	other := newRealm(t, 2)
	if err := other.Load(context.Background(), bytes.NewReader(image(t, w.Store))); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		for _, h := range gone {
			if other.units.Has(h) {
				t.Fatalf("%v names an item again", h)
			}
		}
		other.tick(t, 50)
	}
	if len(gone) == 0 {
		t.Error("no item was erased")
	}
}

// TestEveryCutAndFlipIsRefused cuts a snapshot at every byte and flips every bit.
func TestEveryCutAndFlipIsRefused(t *testing.T) {
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
	refuses := func(b []byte, what string) {
		t.Helper()
		err := other.Load(context.Background(), bytes.NewReader(b))
		var at *store.SnapshotError
		if !errors.Is(err, store.ErrSnapshot) || !errors.As(err, &at) {
			t.Fatalf("%s: %v", what, err)
		}
	}
	for n := range len(b) {
		refuses(b[:n], fmt.Sprintf("the first %d of %d bytes", n, len(b)))
	}
	for bit := range 8 * len(b) {
		if testing.Short() && bit%8 != bit/8%8 {
			continue
		}
		flipped := slices.Clone(b)
		flipped[bit/8] ^= 1 << (bit % 8)
		refuses(flipped, fmt.Sprintf("bit %d", bit))
	}
	if digest(t, other.Store) != before {
		t.Error("a snapshot that was refused has changed the store")
	}
	t.Logf("%d bytes", len(b))
}

// forged returns b with frames changed by r, and checksums and digests that are
// right all the same.
func forged(r *rand.Rand, b []byte) []byte {
	b = slices.Clone(b)
	frames := framesOf(b)
	for range 1 + r.IntN(3) {
		f := frames[r.IntN(len(frames))]
		payload := b[f.at+16 : f.end]
		at := r.IntN(len(payload))
		switch r.IntN(4) {
		case 0:
			payload[at] ^= 1 << r.IntN(8)
		case 1:
			payload[at] = byte(r.IntN(4))
		case 2:
			payload[at]++
		default:
			copy(payload[at:min(at+8, len(payload))], payload[r.IntN(len(payload)):])
		}
	}
	signed, _ := signed(b)
	return signed
}

type frameAt struct{ at, end int }

// framesOf are those of b with the bytes of a shard, as far as b has whole ones.
func framesOf(b []byte) (all []frameAt) {
	for at := headOf(b); at+16 <= len(b); {
		end := at + 16 + int(binary.LittleEndian.Uint32(b[at:]))
		if end > len(b) {
			break
		}
		if b[at+8] == 0 {
			all = append(all, frameAt{at, end})
		}
		at = end
	}
	return all
}

// headOf is where the head of a snapshot ends.
func headOf(b []byte) int {
	if len(b) < 12 {
		return len(b)
	}
	return 16 + int(binary.LittleEndian.Uint32(b[8:]))
}

// signed returns b with checksums and digests that are right, as far as b has
// whole frames.
func signed(b []byte) ([]byte, bool) {
	b = slices.Clone(b)
	table := crc32.MakeTable(crc32.Castagnoli)
	var shard, whole hash.Hash
	count := uint32(0)
	if at := headOf(b); at > len(b) || at < 16 {
		return b, false
	} else {
		binary.LittleEndian.PutUint32(b[at-4:], crc32.Checksum(b[12:at-4], table))
	}
	for at := headOf(b); at+16 <= len(b); count++ {
		end := at + 16 + int(binary.LittleEndian.Uint32(b[at:]))
		if end > len(b) {
			return b, false
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
	return b, true
}

// loadForged loads what may be forged, within the memory that the bytes allow, and
// reports whether it was refused.
func loadForged(t *testing.T, s *store.Store, b []byte) (refused bool) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := s.Load(context.Background(), bytes.NewReader(b))
	runtime.ReadMemStats(&after)
	if grew, most := after.TotalAlloc-before.TotalAlloc, uint64(32*len(b)+1<<20); grew > most {
		t.Fatalf("%d bytes were allocated for %d", grew, len(b))
	}
	if err != nil && !errors.Is(err, store.ErrSnapshot) {
		t.Fatal(err)
	}
	return err != nil
}

// loadAndGoOn loads what may be forged, and goes on with it if it is not refused.
// It reports whether it was.
func loadAndGoOn(t *testing.T, w *realm, b []byte) (refused bool) {
	t.Helper()
	if loadForged(t, w.Store, b) {
		return true
	}
	for tick := range uint64(5) {
		if err := w.Verify(context.Background()); err != nil {
			t.Fatal(err)
		}
		if check.Full && w.leaks() {
			return false // a checked build flushes no item that names a create
		}
		w.tick(t, tick)
	}
	return false
}

// leaks reports whether an item holds a provisional handle, as a forger may make it.
func (w *realm) leaks() bool {
	for _, u := range w.units.All() {
		if u.Plan.ID.IsProvisional() {
			return true
		}
	}
	return false
}

// Whatever a forger changes, with checksums and digests that are right, is refused
// or is a state that the store can go on from.
func TestAForgedSnapshotIsRefusedOrIsAState(t *testing.T) {
	n := 20_000
	switch {
	case testing.Short():
		n = 500
	case check.Cheap: // which is slow
		n = 2000
	}
	r := rand.New(rand.NewPCG(2, 3))
	var images [][]byte
	live := newRealm(t, 1)
	for tick := range uint64(10) {
		live.tick(t, tick)
		images = append(images, image(t, live.Store))
	}
	w := newRealm(t, 1)
	refused := 0
	for i := range n {
		if loadAndGoOn(t, w, forged(r, images[i%len(images)])) {
			refused++
		}
	}
	t.Logf("%d of %d forgeries were refused", refused, n)
	if refused < n/4 || refused > n*99/100 {
		t.Errorf("%d of %d forgeries were refused", refused, n)
	}
}

func TestWhatCannotBeReadBackIsNotWritten(t *testing.T) {
	type pointing struct {
		N    int
		Next *int
	}
	s := newStore(t, store.Options{})
	register(t, s, store.TableOptions[pointing]{Name: "pointing"})
	err := s.Snapshot(context.Background(), io.Discard)
	if !errors.Is(err, store.ErrSnapshot) || !strings.Contains(err.Error(), "Next") || !strings.Contains(err.Error(), `"pointing"`) {
		t.Errorf("%v", err)
	}
	if _, err := new(store.Checkpoint).WriteTo(io.Discard); !errors.Is(err, store.ErrCheckpoint) {
		t.Errorf("an empty checkpoint: %v", err)
	}
	full := errors.New("the disk is full")
	w := newRealm(t, 1)
	w.tick(t, 1)
	if err := w.Snapshot(context.Background(), iotestWriter{full}); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	if err := w.Load(context.Background(), iotest.ErrReader(full)); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}

type iotestWriter struct{ err error }

func (w iotestWriter) Write([]byte) (int, error) { return 0, w.err }

func TestASnapshotOfOtherTablesIsRefused(t *testing.T) {
	type other struct {
		X, Y  float64
		Alive bool
		Plan  store.Handle[plan]
	}
	w := newRealm(t, 1)
	w.tick(t, 1)
	b := image(t, w.Store)
	plans := store.TableOptions[plan]{Name: "plans", Shards: 2, Clone: clonePlan, FixedKeys: true}
	for name, register := range map[string]func(s *store.Store){
		"another encoding": func(s *store.Store) {
			register(t, s, store.TableOptions[other]{Name: "units", Shards: 3, MinFree: 2})
			registerStable(t, s, plans)
		},
		"more shards": func(s *store.Store) {
			register(t, s, store.TableOptions[unit]{Name: "units", Shards: 4, MinFree: 2})
			registerStable(t, s, plans)
		},
		"another MinFree": func(s *store.Store) {
			register(t, s, store.TableOptions[unit]{Name: "units", Shards: 3})
			registerStable(t, s, plans)
		},
		"another kind": func(s *store.Store) {
			register(t, s, store.TableOptions[unit]{Name: "units", Shards: 3, MinFree: 2})
			register(t, s, plans)
		},
		"a table less": func(s *store.Store) {
			register(t, s, store.TableOptions[unit]{Name: "units", Shards: 3, MinFree: 2})
		},
		"other typeIds": func(s *store.Store) {
			registerStable(t, s, plans)
			register(t, s, store.TableOptions[unit]{Name: "units", Shards: 3, MinFree: 2})
		},
	} {
		s := newStore(t, store.Options{})
		register(s)
		err := s.Load(context.Background(), bytes.NewReader(b))
		if !errors.Is(err, store.ErrSnapshot) {
			t.Errorf("%s: %v", name, err)
		}
		if name != "another MinFree" && !errors.Is(err, store.ErrSchema) {
			t.Errorf("%s: %v; want ErrSchema", name, err)
		}
		if name == "another encoding" && (!strings.Contains(err.Error(), "X int32") || !strings.Contains(err.Error(), "X float64")) {
			t.Errorf("the message has not both: %v", err)
		}
	}
	// A table more is empty.
	more := newRealm(t, 1)
	extra := register(t, more.Store, store.TableOptions[item]{Name: "extra"})
	fill(t, more.Store, extra, 3)
	if err := more.Load(context.Background(), bytes.NewReader(b)); err != nil || extra.Len() != 0 || more.units.Len() != w.units.Len() {
		t.Errorf("%d items in a table that the snapshot does not have, %v", extra.Len(), err)
	}
}

func TestSnapshotsAskTheGate(t *testing.T) {
	w := newRealm(t, 1)
	w.tick(t, 1)
	b := image(t, w.Store)
	ctx := context.Background()
	err := w.Each(ctx, 1, func(ctx context.Context, _ int, _ store.Queue) error {
		if err := w.Snapshot(ctx, io.Discard); !errors.Is(err, store.ErrPhase) {
			t.Errorf("Snapshot in a pass: %v", err)
		}
		if err := w.Load(ctx, bytes.NewReader(b)); !errors.Is(err, store.ErrPhase) {
			t.Errorf("Load in a pass: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	before := digest(t, w.Store)
	err = w.Write(ctx, func(ctx context.Context, x *store.Writer) error {
		w.units.Clear(x)
		return w.Load(ctx, bytes.NewReader(b))
	})
	if err != nil || digest(t, w.Store) != before {
		t.Errorf("Load in a Write: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := w.Load(ended, bytes.NewReader(b)); !errors.Is(err, context.Canceled) {
		t.Errorf("Load with a context that has ended: %v", err)
	}
}

var updateSnapshot = flag.Bool("update-snapshot", false, "write testdata/world.snap anew")

// A snapshot that another machine wrote is read to the digest that it had there.
// The file is of amd64; the tests run on 32 bits, too.
func TestASnapshotOfAnotherMachineIsRead(t *testing.T) {
	const wantDigest = 0x2629ecfa7d14ab0d
	path := filepath.Join("testdata", "world.snap")
	w := newRealm(t, 2)
	for tick := range uint64(4) {
		w.tick(t, tick)
	}
	b := image(t, w.Store)
	if *updateSnapshot {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("digest %#x", digest(t, w.Store))
	}
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, golden) {
		t.Error("the same state is not the same bytes on this machine")
	}
	other := newRealm(t, 1)
	if err := other.Load(context.Background(), bytes.NewReader(golden)); err != nil {
		t.Fatal(err)
	}
	if got := digest(t, other.Store); got != wantDigest {
		t.Errorf("digest %#x, want %#x", got, uint64(wantDigest))
	}
}
