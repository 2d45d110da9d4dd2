package store_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handloom/internal/check"
	snapshot "handloom/internal/image"
	"handloom/store"
)

type laterUnit struct {
	Armor  uint16
	Alive  bool
	X      int
	Height int32
	Plan   store.Handle[laterPlan]
}

type laterPlan struct {
	Odds  map[uint32]float64
	Steps []int32
	Title string
	Extra [2]float64
}

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

type laterRealm struct {
	*store.Store
	units *store.Table[laterUnit]
	plans *store.StableTable[laterPlan]
}

func newLaterRealm(t tb) *laterRealm {
	t.Helper()
	s := newStore(t, store.Options{Workers: 2})
	return &laterRealm{s, register(t, s, laterUnits()), registerStable(t, s, laterPlans())}
}

func oldSnapshot(t tb) ([]byte, *realm) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "world.snap"))
	noError(t, err)
	w := newRealm(t, 1)
	noError(t, w.Load(context.Background(), bytes.NewReader(b)))
	return b, w
}

func TestLoad_SchemaErrorNamesTheField(t *testing.T) {
	type (
		gauge  struct{ Level int16 }
		unlike struct{ Level string }
		ships  = *store.Table[item]
	)
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ships"})
	addColumn(t, table, store.ColumnOptions[uint32]{Name: "count"})
	addColumn(t, table, store.ColumnOptions[gauge]{Name: "gauge"})
	addSparse(t, table, store.ColumnOptions[int16]{Name: "burn"})
	fill(t, s, table, 3)
	saved := image(t, s)
	twice := func(h *snapshot.Header) { h.Tables[0].Columns[1].Name = "count" }
	for want, c := range map[string]struct {
		b   []byte
		add func(table ships)
	}{
		`column "count": uint16 cannot be converted`: {saved, func(table ships) {
			addColumn(t, table, store.ColumnOptions[uint16]{Name: "count"})
		}},
		`column "gauge": store_test.unlike.Level cannot be converted`: {saved, func(table ships) {
			addColumn(t, table, store.ColumnOptions[unlike]{Name: "gauge"})
		}},
		`sparse data "burn": int8 cannot be converted`: {saved, func(table ships) {
			addSparse(t, table, store.ColumnOptions[int8]{Name: "burn"})
		}},
		`sparse data "burn": it is of kind "column" in the store`: {saved, func(table ships) {
			addColumn(t, table, store.ColumnOptions[int16]{Name: "burn"})
		}},
		`column "count": duplicate`: {withHeader(saved, twice), func(ships) {}},
		`table "ships": duplicate`: {withHeader(saved, func(h *snapshot.Header) {
			h.Tables = append(h.Tables, h.Tables[0])
		}), func(ships) {}},
	} {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ships"})
		c.add(table)
		before := digest(t, s)
		err := s.Load(context.Background(), bytes.NewReader(c.b))
		wantError(t, "the call", err, store.ErrSchema, want)
		equal(t, "digest", digest(t, s), before)
	}

	b, _ := oldSnapshot(t)
	s = newStore(t, store.Options{})
	plans := laterPlans()
	plans.Migrate = map[string]func(store.Fields, *laterPlan) error{"another": nil}
	register(t, s, laterUnits())
	registerStable(t, s, plans)
	err := s.Load(context.Background(), bytes.NewReader(b))
	wantError(t, "Load", err, store.ErrSchema, `table "plans"`, "store_test.laterPlan.Steps cannot be converted",
		`TableOptions.Migrate["`+planHash+`"]`, "\n\tSteps []int64\n", "\n\tSteps []int32\n")
}

func TestLoad_FailedMigrationChangesNothing(t *testing.T) {
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
		if !errors.Is(err, store.ErrSnapshot) || !strings.Contains(err.Error(), `table "units"`) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		var panicked *store.PanicError
		equal(t, name+": the error is a panic", errors.As(err, &panicked), name == "panics")
		var read store.Checkpoint
		equal(t, name+": it is read", s.ReadCheckpoint(context.Background(), bytes.NewReader(b), &read) == nil, false)
		wantError(t, name+": a checkpoint that was read in part", s.Rollback(context.Background(), &read), store.ErrCheckpoint)
		equal(t, name+": digest", digest(t, s), before)
	}
}

// A Migrate map without a key of the snapshot would lose fields.
func TestLoad_RefusesMigrateWithoutTheHash(t *testing.T) {
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
			equal(t, "Load succeeds", err == nil, c.fits)
			for _, want := range []string{unitHash, "ef83e3b0001c8d64", "laterUnit.Y"} {
				if err != nil && (!errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), want)) {
					t.Errorf("Load: %v, want ErrSchema with %q", err, want)
				}
			}
		})
	}
}

// reschemed returns b with other schemas of tables and columns.
func reschemed(r *rand.Rand, b []byte) []byte {
	return withHeader(b, func(h *snapshot.Header) {
		var all []*string
		for i := range h.Tables {
			all = append(all, &h.Tables[i].Schema)
			for k := range h.Tables[i].Columns {
				all = append(all, &h.Tables[i].Columns[k].Schema)
			}
		}
		for range 1 + r.IntN(2) {
			schema := all[r.IntN(len(all))]
			text := []byte(*schema)
			switch at := r.IntN(len(text)); r.IntN(4) {
			case 0:
				text[at] ^= 1 << r.IntN(8)
			case 1:
				text[at] = "0123456789@;{}[] int"[r.IntN(20)]
			default:
				for _, kinds := range [][2]string{{"int32", "int16"}, {"int64", "uint8"}, {"string", "uint64"}, {"float64", "complex128"}, {"[]int64", "[8]int8"}, {"map[uint8]", "[]"}} {
					if r.IntN(3) == 0 {
						text = bytes.Replace(text, []byte(kinds[0]), []byte(kinds[1]), 1)
					}
				}
			}
			*schema = string(text)
		}
	})
}

// laterStores returns stores of a later version of a program and the snapshots that they read.
func laterStores(t *testing.T) (stores []*store.Store, old [][]byte) {
	realms, _ := oldSnapshot(t)
	plain := newStore(t, store.Options{Workers: 1})
	units := laterUnits()
	units.Migrate = nil
	register(t, plain, units)
	registerStable(t, plain, store.TableOptions[plan]{Name: "plans", Shards: 2})

	parts := []partPlan{{"column", false, 1, 2}, {"data", true, 1, 2}, {"gone", false, 1, 0}, {"gone data", true, 1, 0}}
	saved, _, _ := writeParts(t, false, parts, 20, firstOf, firstPart.grown)
	later := newStore(t, store.Options{Workers: 1})
	table := newKind[secondPart](t, later, false)
	for _, p := range parts[:2] {
		addPart[secondPart](t, table, p)
	}
	return []*store.Store{newLaterRealm(t).Store, plain, later}, [][]byte{realms, realms, saved}
}

func TestLoad_AcceptsOrRefusesOlderForgeries(t *testing.T) {
	n := 400
	if testing.Short() || check.Cheap {
		n = 100
	}
	stores, old := laterStores(t)
	for i, name := range []string{"functions", "schemas", "parts"} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, uint64(i)))
			taken := 0
			for k := range n {
				b := old[i]
				if i > 0 && k%3 > 0 {
					b = reschemed(r, b)
				}
				if k%3 < 2 {
					b, _ = forged(r, b)
				}
				if !takes(t, stores[i], b) {
					continue
				}
				taken++
				before := digest(t, stores[i])
				noError(t, stores[i].Load(t.Context(), bytes.NewReader(image(t, stores[i]))))
				equal(t, "digest when saved and loaded", digest(t, stores[i]), before)
			}
			t.Logf("%d of %d were taken", taken, n)
			atLeast(t, "taken", taken, n/50)
			atMost(t, "taken", taken, n*9/10)
		})
	}
}

func FuzzMigrate(f *testing.F) {
	b, _ := oldSnapshot(f)
	r := rand.New(rand.NewPCG(7, 8))
	f.Add(b)
	for range 10 {
		f.Add(reschemed(r, b))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		stores, _ := laterStores(t)
		for _, s := range stores {
			takes(t, s, signed(b))
		}
	})
}
