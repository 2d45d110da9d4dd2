package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	hash "handloom/internal/digest"
	snapshot "handloom/internal/image"
	"handloom/store"
)

// laterUnit and laterPlan are what unit and plan have become.
type laterUnit struct {
	Armor  uint16
	Alive  bool
	X      int // was narrower
	Height int32
	Plan   store.Handle[laterPlan]
}

type laterPlan struct {
	Odds  map[uint32]float64
	Steps []int32 // was wider
	Title string
	Extra [2]float64
}

// Of the schemas of unit and plan.
const (
	unitHash = "ef83e3b0001c8d63"
	planHash = "e2144f39e626714c"
)

func laterUnits() store.TableOptions[laterUnit] {
	return store.TableOptions[laterUnit]{
		Name: "units", Shards: 3, MinFree: 2, ChunkItems: 16,
		Migrate: map[string]func(old store.Fields, v *laterUnit) error{
			unitHash: func(old store.Fields, v *laterUnit) error { return old.Read("Y", &v.Height) },
		},
	}
}

func laterPlans() store.TableOptions[laterPlan] {
	return store.TableOptions[laterPlan]{
		Name: "plans", Shards: 2,
		Clone: func(dst, src *laterPlan) {
			*dst = *src
			dst.Steps, dst.Odds = slices.Clone(src.Steps), maps.Clone(src.Odds)
		},
		Migrate: map[string]func(old store.Fields, v *laterPlan) error{
			planHash: func(old store.Fields, v *laterPlan) error {
				var steps []int64
				if err := errors.Join(old.Read("Name", &v.Title), old.Read("Steps", &steps)); err != nil {
					return err
				}
				for _, n := range steps {
					v.Steps = append(v.Steps, int32(n))
				}
				return nil
			},
		},
	}
}

// laterRealm is a realm of a later version of the program.
type laterRealm struct {
	*store.Store
	units *store.Table[laterUnit]
	plans *store.StableTable[laterPlan]
}

func newLaterRealm(t tb) *laterRealm {
	t.Helper()
	return newLaterRealmFor(t, nil)
}

// newLaterRealmFor returns one that may lose fields of the tables of a snapshot, whatever
// their schemas are.
func newLaterRealmFor(t tb, b []byte) *laterRealm {
	t.Helper()
	units, plans := laterUnits(), laterPlans()
	info, _ := snapshot.Inspect(bytes.NewReader(b))
	for _, of := range info.Tables {
		if units.Migrate[of.SchemaHash] == nil {
			units.Migrate[of.SchemaHash] = nil
		}
		if plans.Migrate[of.SchemaHash] == nil {
			plans.Migrate[of.SchemaHash] = nil
		}
	}
	s := newStore(t, store.Options{Workers: 2})
	return &laterRealm{s, register(t, s, units), registerStable(t, s, plans)}
}

// oldSnapshot is testdata/world.snap, and the realm that it was written of.
func oldSnapshot(t tb) ([]byte, *realm) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "world.snap"))
	if err != nil {
		t.Fatal(err)
	}
	w := newRealm(t, 1)
	if err := w.Load(context.Background(), bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	return b, w
}

func TestASnapshotOfOlderTypesIsRead(t *testing.T) {
	b, old := oldSnapshot(t)
	w := newLaterRealm(t)
	if err := w.Load(context.Background(), bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	if w.units.Len() != old.units.Len() || w.plans.Len() != old.plans.Len() || w.units.Len() == 0 || w.plans.Len() == 0 {
		t.Fatalf("%d units of %d, %d plans of %d", w.units.Len(), old.units.Len(), w.plans.Len(), old.plans.Len())
	}
	for h, was := range old.units.All() {
		is, ok := w.units.Get(store.Handle[laterUnit]{ID: h.ID})
		want := laterUnit{Alive: was.Alive, X: int(was.X), Height: was.Y, Plan: store.Handle[laterPlan]{ID: was.Plan.ID}}
		if !ok || *is != want {
			t.Fatalf("unit %v is %+v; want %+v", h, is, want)
		}
	}
	for h, was := range old.plans.All() {
		is, ok := w.plans.Get(store.Handle[laterPlan]{ID: h.ID})
		if !ok || is.Title != was.Name || len(is.Steps) != len(was.Steps) || len(is.Odds) != len(was.Odds) || is.Extra != [2]float64{} {
			t.Fatalf("plan %v is %+v, and was %+v", h, is, was)
		}
		for i, n := range was.Steps {
			if is.Steps[i] != int32(n) {
				t.Fatalf("plan %v is %+v, and was %+v", h, is, was)
			}
		}
		for key, odds := range was.Odds {
			if is.Odds[uint32(key)] != odds {
				t.Fatalf("plan %v is %+v, and was %+v", h, is, was)
			}
		}
	}
	w.goesOn(t)
	again := newLaterRealm(t)
	if err := again.Load(context.Background(), bytes.NewReader(image(t, w.Store))); err != nil || digest(t, again.Store) != digest(t, w.Store) {
		t.Errorf("written and read as what it is: %v", err)
	}
}

// goesOn changes the realm by every kind of command and sorts it by a field whose
// values are not what they were sorted by before.
func (w *laterRealm) goesOn(t tb) {
	t.Helper()
	ctx := context.Background()
	err := w.units.ForEach(ctx, func(_ context.Context, c store.Chunk[laterUnit]) error {
		for i := range c.Items {
			if i%5 == 0 {
				c.Erase(i)
				w.plans.Erase(c.Queue, c.Items[i].Plan)
				w.units.Emplace(c.Queue, laterUnit{Plan: w.plans.Emplace(c.Queue, laterPlan{Title: "new"})})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	flush(t, w.Store)
	byArmor := func(a, b *laterUnit) int { return int(a.Height) - int(b.Height) }
	err = w.Write(ctx, func(_ context.Context, x *store.Writer) error {
		_, done, err := store.Defragment(ctx, w.units, x, byArmor, 0)
		if err == nil && !done {
			t.Errorf("Defragment without a bound has not ended")
		}
		return err
	})
	if err == nil {
		err = w.Verify(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A round of Defragment that the snapshot is in the middle of was about the keys
// that there were.
func TestItemsAreSortedByWhatTheyHaveBecome(t *testing.T) {
	old := newRealm(t, 1)
	for tick := range uint64(6) {
		old.tick(t, tick)
	}
	w := newLaterRealm(t)
	if err := w.Load(context.Background(), bytes.NewReader(image(t, old.Store))); err != nil {
		t.Fatal(err)
	}
	w.goesOn(t)
	before := map[uint16]int32{}
	for h, u := range w.units.All() {
		if last, ok := before[h.ID.TypeID()]; ok && u.Height < last {
			t.Fatalf("%d comes behind %d", u.Height, last)
		}
		before[h.ID.TypeID()] = u.Height
	}
}

func TestASchemaErrorNamesWhatDoesNotFit(t *testing.T) {
	b, _ := oldSnapshot(t)
	s := newStore(t, store.Options{})
	units, plans := laterUnits(), laterPlans()
	plans.Migrate = map[string]func(store.Fields, *laterPlan) error{"another": nil}
	register(t, s, units)
	registerStable(t, s, plans)
	err := s.Load(context.Background(), bytes.NewReader(b))
	if !errors.Is(err, store.ErrSchema) {
		t.Fatal(err)
	}
	for _, want := range []string{`table "plans"`, "store_test.laterPlan.Steps cannot be converted", `TableOptions.Migrate["` + planHash + `"]`, "\n\tSteps []int64\n", "\n\tSteps []int32\n"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nhas no %q", err, want)
		}
	}
}

func TestAMigrationThatFailsChangesNothing(t *testing.T) {
	b, _ := oldSnapshot(t)
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		migrate func(old store.Fields, v *laterUnit) error
		want    string
	}{
		"fails":      {func(store.Fields, *laterUnit) error { return refused }, "refused"},
		"panics":     {func(store.Fields, *laterUnit) error { panic(refused) }, "panicked: refused"},
		"misspells":  {func(old store.Fields, v *laterUnit) error { return old.Read("Z", &v.Height) }, "no field Z"},
		"mistakes":   {func(old store.Fields, v *laterUnit) error { return old.Read("Alive", &v.Height) }, "field Alive of bool cannot be read as int32"},
		"no pointer": {func(old store.Fields, v *laterUnit) error { return old.Read("Y", v.Height) }, "into a pointer, not into int32"},
	} {
		s := newStore(t, store.Options{})
		units := laterUnits()
		units.Migrate[unitHash] = c.migrate
		register(t, s, units)
		registerStable(t, s, laterPlans())
		before := digest(t, s)
		err := s.Load(context.Background(), bytes.NewReader(b))
		var at *store.SnapshotError
		if !errors.As(err, &at) || at.Table != "units" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		var panicked *store.PanicError
		if errors.As(err, &panicked) != (name == "panics") {
			t.Errorf("%s: %v", name, err)
		}
		var read store.Checkpoint
		if err := s.ReadCheckpoint(context.Background(), bytes.NewReader(b), &read); err == nil {
			t.Errorf("%s: it was read", name)
		}
		if err := s.Rollback(context.Background(), &read); !errors.Is(err, store.ErrCheckpoint) {
			t.Errorf("%s: a checkpoint that was read in part: %v", name, err)
		}
		if digest(t, s) != before {
			t.Errorf("%s: the store has changed", name)
		}
	}
}

// A Migrate map whose keys do not match what is loaded is a mistake, where fields would be
// lost.
func TestLoad_RefusesAMigrateMapWithoutTheHash(t *testing.T) {
	b, _ := oldSnapshot(t)
	nothing := func(store.Fields, *laterUnit) error { return nil }
	for name, c := range map[string]struct {
		migrate map[string]func(store.Fields, *laterUnit) error
		fits    bool
	}{
		"no map":           {nil, true},
		"a wrong digit":    {map[string]func(store.Fields, *laterUnit) error{"ef83e3b0001c8d64": nothing}, false},
		"a nil function":   {map[string]func(store.Fields, *laterUnit) error{unitHash: nil, "ef83e3b0001c8d64": nothing}, true},
		"another and this": {map[string]func(store.Fields, *laterUnit) error{unitHash: nothing, "ef83e3b0001c8d64": nothing}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, store.Options{})
			units := laterUnits()
			units.Migrate = c.migrate
			register(t, s, units)
			registerStable(t, s, laterPlans())
			err := s.Load(context.Background(), bytes.NewReader(b))
			if (err == nil) != c.fits {
				t.Fatalf("Load: %v, want an error: %t", err, !c.fits)
			}
			for _, want := range []string{unitHash, "ef83e3b0001c8d64", "laterUnit.Y"} {
				if err != nil && (!errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), want)) {
					t.Errorf("Load: %v, want ErrSchema with %q", err, want)
				}
			}
		})
	}
}

// MaxItems is a limit of inserts: a save that has more is not lost.
func TestLoad_TakesMoreItemsThanMaxItems(t *testing.T) {
	ctx := context.Background()
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "items"})
	fill(t, s, table, 100)
	less, few := newTable(t, store.Options{}, store.TableOptions[item]{Name: "items", MaxItems: 50})
	if err := less.Load(ctx, bytes.NewReader(image(t, s))); err != nil || few.Len() != 100 {
		t.Fatalf("Load: %d items, %v", few.Len(), err)
	}
	err := less.Write(ctx, func(_ context.Context, w *store.Writer) error {
		if _, err := few.Insert(w, item{}); !errors.Is(err, store.ErrFull) {
			t.Errorf("Insert: %v, want ErrFull", err)
		}
		for h := range few.All() {
			if few.Len() > 49 {
				few.Remove(w, h)
			}
		}
		_, err := few.Insert(w, item{})
		return err
	})
	if err != nil || few.Len() != 50 {
		t.Errorf("%d items, %v", few.Len(), err)
	}
}

// reschemed returns b with other schemas in its head, checksums made right.
func reschemed(r *rand.Rand, b []byte) []byte {
	head := slices.Clone(b[12 : headOf(b)-4])
	for range 1 + r.IntN(2) {
		at := bytes.Index(head, []byte("struct{")) + r.IntN(40)
		if r.IntN(2) == 0 {
			at = bytes.LastIndex(head, []byte("struct{")) + r.IntN(60)
		}
		at = min(at, len(head)-1)
		switch r.IntN(4) {
		case 0:
			head[at] ^= 1 << r.IntN(8)
		case 1:
			head[at] = "0123456789@;{}[] int"[r.IntN(20)]
		default:
			for _, kinds := range [][2]string{{"int32", "int16"}, {"int64", "uint8"}, {"string", "uint64"}, {"float64", "complex128"}, {"[]int64", "[8]int8"}, {"map[uint8]", "[]"}} {
				if r.IntN(3) == 0 {
					head = bytes.Replace(head, []byte(kinds[0]), []byte(kinds[1]), 1)
				}
			}
		}
	}
	// The lengths of the schemas, each behind the kind of its table.
	for _, name := range []string{"units", "plans"} {
		at := bytes.Index(head, []byte(name))
		if at < 0 || at+14 > len(head) {
			continue
		}
		if end := bytes.LastIndexByte(head, '}') + 1; name == "plans" && end > at+14 {
			binary.LittleEndian.PutUint32(head[at+10:], uint32(end-at-14))
		} else if next := bytes.Index(head, []byte("\x05\x00\x00\x00plans")); name == "units" && next > at+14 {
			binary.LittleEndian.PutUint32(head[at+10:], uint32(next-at-14))
		}
	}
	made := append(slices.Clone(b[:8]), binary.LittleEndian.AppendUint32(nil, uint32(len(head)))...)
	made = append(append(made, head...), b[headOf(b)-4:]...)
	signed, _ := signed(made)
	return signed
}

// Whatever a forger makes of items and of what they are said to be is refused or is
// a state that the store can go on from.
func TestAForgedOlderSnapshotIsRefusedOrIsAState(t *testing.T) {
	n := 700
	if testing.Short() {
		n = 300
	}
	b, _ := oldSnapshot(t)
	for i, of := range []struct {
		what  string
		forge func(r *rand.Rand) []byte
	}{
		{"items", func(r *rand.Rand) []byte { return forged(r, b) }},
		{"schemas", func(r *rand.Rand) []byte { return reschemed(r, b) }},
		{"both", func(r *rand.Rand) []byte { return forged(r, reschemed(r, b)) }},
	} {
		r := rand.New(rand.NewPCG(5, uint64(i)))
		refused := 0
		for range n {
			b := of.forge(r)
			w := newLaterRealmFor(t, b)
			if loadForged(t, w.Store, b) {
				refused++
			} else if !w.leaks() {
				w.goesOn(t)
			}
		}
		t.Logf("%s: %d of %d were refused", of.what, refused, n)
		if refused < n/10 || refused > n*99/100 {
			t.Errorf("%s: %d of %d were refused", of.what, refused, n)
		}
	}
}

// leaks reports whether an item holds a provisional handle, as a forger may make it.
func (w *laterRealm) leaks() bool {
	for _, u := range w.units.All() {
		if u.Plan.ID.IsProvisional() {
			return true
		}
	}
	return false
}

// FuzzMigrate loads any bytes as a snapshot of older types.
func FuzzMigrate(f *testing.F) {
	b, _ := oldSnapshot(f)
	r := rand.New(rand.NewPCG(7, 8))
	f.Add(b)
	for range 10 {
		f.Add(forged(r, b))
		f.Add(reschemed(r, b))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		b, _ = signed(b)
		w := newLaterRealmFor(t, b)
		if !loadForged(t, w.Store, b) && !w.leaks() {
			w.goesOn(t)
		}
	})
}

// The constants are what users write, so they stay.
func TestSchemaHashes(t *testing.T) {
	b, _ := oldSnapshot(t)
	for text, want := range map[string]string{
		"struct{X int32; Y int32; Alive bool; Plan struct{ID uint64}}": unitHash,
		"struct{Name string; Steps []int64; Odds map[uint8]float64}":   planHash,
	} {
		if !bytes.Contains(b, []byte(text)) {
			t.Errorf("the snapshot has no %s", text)
		}
		if got := hash.SchemaHash(text); got != want {
			t.Errorf("the hash of %s is %s", text, got)
		}
	}
}
