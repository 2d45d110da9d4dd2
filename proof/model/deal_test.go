package model

import (
	"flag"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Each run checks the same cases, or drawn ones with -rapid.seed=0.
var _ = flag.Set("rapid.seed", "1")

func dealt(sizes []int, n int) []int {
	level := 0
	for poured(sizes, level+1) <= n {
		level++
	}
	take := make([]int, len(sizes))
	rest := n
	for i, size := range sizes {
		take[i] = max(0, level-size)
		rest -= take[i]
	}
	for i, size := range sizes {
		if rest > 0 && size <= level {
			take[i]++
			rest--
		}
	}
	return take
}

func TestDeal_FollowsTheRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(0, 40), 1, 8).Draw(t, "sizes")
		n := rapid.IntRange(0, 200).Draw(t, "n")
		if got, want := deal(sizes, n), dealt(sizes, n); !slices.Equal(got, want) {
			t.Errorf("%d over %v gives %v; want %v", n, sizes, got, want)
		}
	})
}

func TestModels_AgreeOverAShard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tables := []Table{{TypeID: 5, Shards: 1, MinFree: rapid.IntRange(0, 2).Draw(t, "minfree"), Chunk: 4, Stable: rapid.Bool().Draw(t, "stable")}}
		exact := NewExact(tables, Widths{LastGeneration: 3, Slots: 6}, new(Counters))
		abstract := NewAbstract(tables)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch issued := abstract.Issued(); rapid.IntRange(0, 4).Draw(t, "step") {
			case 0, 1, 2:
				if ids := exact.Map(0, 0).InsertItems([]Item{{Key: 1}}); ids != nil {
					if err := abstract.Insert(0, ids[0], Item{Key: 1}); err != nil {
						t.Fatal(err)
					}
				}
			case 3:
				if len(issued) > 0 {
					id := issued[rapid.IntRange(0, len(issued)-1).Draw(t, "item")]
					if a, b := exact.Remove(0, id), abstract.Erase(0, id); a != b {
						t.Fatalf("erasing %s: %v, %v", Text(id), a, b)
					}
				}
			default:
				if rapid.IntRange(0, 5).Draw(t, "clear") == 0 {
					exact.Clear(0)
					abstract.EraseWhere(0, 0, func(Item) bool { return true })
				}
			}
			for _, id := range abstract.Issued() {
				if _, _, lives := abstract.Find(id); lives != exact.Lives(id) {
					t.Fatalf("%s lives: %v, %v", Text(id), lives, exact.Lives(id))
				}
			}
			if n := len(exact.Rows(0)); n != abstract.Len(0) || n != exact.Stats(0).Live {
				t.Fatalf("%d rows, %d items, %+v", n, abstract.Len(0), exact.Stats(0))
			}
		}
	})
}

func TestAbstract_RefusesReissuedHandle(t *testing.T) {
	a := NewAbstract([]Table{{TypeID: 5, Shards: 2, Chunk: 4}})
	const id = 6<<48 | 1<<32
	for what, bad := range map[string]uint64{"null": 0, "provisional": id | freeBit, "of another table": 7<<48 | 1<<32} {
		if err := a.Insert(0, bad, Item{}); err == nil {
			t.Errorf("a handle that is %s is accepted", what)
		}
	}
	if err := a.Insert(0, id, Item{}); err != nil {
		t.Fatal(err)
	}
	a.Erase(0, id)
	if err := a.Insert(0, id, Item{}); err == nil {
		t.Error("a handle is issued twice, and accepted")
	}
}

func TestSeen_NamesAreUnique(t *testing.T) {
	names := make(map[string]bool)
	for _, state := range AllSeen() {
		name := state.String()
		if name == "" || names[name] {
			t.Errorf("state %d is called %q", state, name)
		}
		names[name] = true
	}
}
