package buildcost

import (
	"strings"
	"testing"
	"time"
)

// The number of functions is the same on every machine and determines time,
// memory and size.
func TestTable_CostsFewFunctions(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles four programs")
	}
	for _, limit := range []struct {
		every     bool
		functions int
	}{{false, 138}, {true, 190}} {
		one := functions(t, Source{Tables: 1, Every: limit.every})
		three := functions(t, Source{Tables: 3, Every: limit.every})
		perTable := (three - one + 1) / 2
		t.Logf("every operation: %v: %d functions for a further type", limit.every, perTable)
		if perTable > limit.functions || perTable < 40 {
			t.Errorf("every operation: %v: a further type costs %d functions; want at most %d", limit.every, perTable, limit.functions)
		}
	}
}

func TestColumn_CostsFewFunctions(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles two programs")
	}
	const limit = 80
	one := functions(t, Source{Tables: 1, Columns: 1})
	three := functions(t, Source{Tables: 1, Columns: 3})
	perColumn := (three - one + 1) / 2
	t.Logf("%d functions for a further column", perColumn)
	if perColumn > limit || perColumn < 20 {
		t.Errorf("a further column costs %d functions; want at most %d", perColumn, limit)
	}
}

func functions(t *testing.T, p Source) int {
	t.Helper()
	n, err := p.Functions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWrite_ShowsCostsPerTable(t *testing.T) {
	one := Source{Tables: 1}
	costs := []Cost{
		Median([]Cost{
			{one, 5 * time.Second, 9 << 20, 301, 5 << 20},
			{one, time.Second, 7 << 20, 301, 5 << 20},
			{one, 2 * time.Second, 8 << 20, 301, 5 << 20},
		}),
		{Source{Tables: 3}, 3 * time.Second, 8 << 20, 552, 5<<20 + 100<<10},
		{Source{Tables: 8, Apart: true}, time.Second, 8 << 20, 100, 5 << 20},
	}
	var b strings.Builder
	if err := Write(&b, costs); err != nil {
		t.Fatal(err)
	}
	want := `
program                    CPU    memory  functions    binary  a table: CPU  functions    binary
tables=1/ops=few        2.00 s  8.00 MiB        301  5.00 MiB
tables=3/ops=few        3.00 s  8.00 MiB        552  5.10 MiB        500 ms        126  50.0 KiB
tables=8/ops=few/apart  1.00 s  8.00 MiB        100  5.00 MiB
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("got%s", got)
	}
}
