package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"handloom/store"
)

type hostile struct {
	Map  map[float64]int
	Text string
}

// A record that cannot be read back would end a log.
func TestClaim_ReadsBackItsInput(t *testing.T) {
	nan := math.NaN()
	for name, v := range map[string]hostile{
		"NaN key":        {Map: map[float64]int{nan: 1}},
		"equal entries":  {Map: map[float64]int{nan: 1, -nan: 1}},
		"text not UTF-8": {Text: "\xff"},
	} {
		s := newStore(t, store.Options{})
		table := register(t, s, store.TableOptions[hostile]{})
		c := claim(t, s)
		sent := (&claimed{Store: s, claim: c}).send(func(q store.Queue) error { table.Emplace(q, v); return nil })
		input, calls := c.Seal(nil, 1<<20)
		wantError(t, name, c.Unseal(c.Context(t.Context()), input, calls), nil)
		equal(t, name+": calls", calls.Len(), 1)
		calls.Done(1, nil)
		sent.returned(t)
	}
}

// The values of commands have the types of their tables and parts.
func TestClaim_TablesMakeTheirValues(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	addColumn(t, table, store.ColumnOptions[float64]{Name: "column"})
	addSparse(t, table, store.ColumnOptions[string]{Name: "sparse"})
	for _, made := range claim(t, s).Tables() {
		types := []string{fmt.Sprintf("%T", made.New())}
		for _, p := range made.Parts {
			types = append(types, fmt.Sprintf("%s %t %T", p.Name, p.Sparse, p.New()))
		}
		if made.Name == table.Name() {
			equalLists(t, "types", types, "*store_test.item", "column false *float64", "sparse true *string")
		}
	}
}

// A reader cannot check the length of a slice of elements without bytes. Values take the
// same check as tables and compile faster.
func TestClaim_RefusesElementsWithoutBytes(t *testing.T) {
	type holder struct{ Void []struct{} }
	for what, add := range map[string]func(s *store.Store){
		"item": func(s *store.Store) { register(t, s, store.TableOptions[holder]{Name: "items"}) },
		"column": func(s *store.Store) {
			addColumn(t, register(t, s, store.TableOptions[int]{Name: "items"}), store.ColumnOptions[holder]{Name: "column"})
		},
		"sparse data": func(s *store.Store) {
			addSparse(t, register(t, s, store.TableOptions[int]{Name: "items"}), store.ColumnOptions[holder]{Name: "some"})
		},
		"slice of blank fields":          valueOf[[]struct{ _ int }],
		"slice of empty arrays":          valueOf[[][0]string],
		"slice in a map":                 valueOf[map[int][]struct{}],
		"slice in an array":              valueOf[[2][]struct{}],
		"map with empty keys":            valueOf[map[struct{}]int],
		"map with empty keys and values": valueOf[map[struct{}]struct{}],
	} {
		s := newStore(t, store.Options{Workers: 1})
		add(s)
		_, claimErr := openClaim(t.Context(), s)
		var b bytes.Buffer
		for op, err := range map[string]error{"Claim": claimErr, "Snapshot": s.Snapshot(t.Context(), &b)} {
			if !errors.Is(err, store.ErrSnapshot) || !strings.Contains(err.Error(), `table "items"`) || !strings.Contains(err.Error(), ".Void") {
				t.Errorf("%s of %s: %v, want ErrSnapshot that names table and field", op, what, err)
			}
		}
		equal(t, "bytes of a snapshot of "+what, b.Len(), 0)
	}
}

func valueOf[V any](s *store.Store) {
	store.AddValue(s, store.ColumnOptions[struct{ Void V }]{Name: "items"})
}
