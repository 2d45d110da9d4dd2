package store_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	snapshot "handloom/internal/image"
	"handloom/store"
)

func TestInspect_ReturnsTheTablesAndTheTag(t *testing.T) {
	w := newRealm(t, 1)
	for tick := range uint64(5) {
		w.tick(t, tick)
	}
	var saved store.Checkpoint
	checkpoint(t, w.Store, &saved)
	tag := store.Tag{At: 9, Tick: 8, Chain: [16]byte{7}, Program: "one"}
	saved.SetTag(tag)
	var b bytes.Buffer
	if _, err := saved.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	b.WriteString("behind it")
	info, err := snapshot.Inspect(&b)
	if err != nil || b.String() != "behind it" {
		t.Fatalf("%v, and %q is left", err, b.String())
	}
	if store.Tag(info.Tag) != tag || info.Epoch != w.Epoch() || info.Digest != digest(t, w.Store) || len(info.Tables) != 2 {
		t.Errorf("%+v", info)
	}
	for i, want := range w.Stats().Tables {
		got := info.Tables[i]
		if got.Name != want.Name || got.Rows != want.Live || got.Slots != want.Live+want.Vacant+want.Depleted || got.Stable != (i == 1) || got.Shards != 3-i || got.TypeID != 1+3*i {
			t.Errorf("%+v; want %+v", got, want)
		}
	}
}

func TestInspect_ReturnsColumns(t *testing.T) {
	s := newStore(t, store.Options{})
	units := register(t, s, store.TableOptions[unit]{Name: "units"})
	if _, err := store.AddColumn(units, store.ColumnOptions[plan]{Name: "plan", Clone: clonePlan}); err != nil {
		t.Fatal(err)
	}
	info, err := snapshot.Inspect(bytes.NewReader(image(t, s)))
	if err != nil || len(info.Tables) != 1 || len(info.Tables[0].Columns) != 1 {
		t.Fatalf("%+v, %v", info, err)
	}
	if c := info.Tables[0].Columns[0]; c.Name != "plan" || c.Schema != "struct{\n\tName string\n\tSteps []int64\n\tOdds map[uint8]float64\n}" {
		t.Errorf("%+v", c)
	}
}

func TestInspect_FindsEveryCutAndFlip(t *testing.T) {
	w := newRealm(t, 1)
	w.tick(t, 1)
	b := image(t, w.Store)
	refuses := func(b []byte, what string, at int) {
		t.Helper()
		_, err := snapshot.Inspect(bytes.NewReader(b))
		var where *snapshot.Error
		if !errors.Is(err, store.ErrSnapshot) || !errors.As(err, &where) {
			t.Fatalf("%s %d: %v", what, at, err)
		}
	}
	for n := range len(b) {
		refuses(b[:n], "cut at", n)
		flipped := slices.Clone(b)
		flipped[n] ^= 1 << (n % 8)
		refuses(flipped, "flipped at", n)
	}
	// A forged one has right checksums, and anything in it.
	r := rand.New(rand.NewPCG(1, 9))
	for range 300 {
		_, err := snapshot.Inspect(bytes.NewReader(forged(r, b)))
		if err != nil && !errors.Is(err, store.ErrSnapshot) {
			t.Fatal(err)
		}
	}
}
