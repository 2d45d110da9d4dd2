package runner_test

import (
	"testing"

	"handloom/proof/runner"
	"handloom/proof/script"
)

// The steps include stale and forged handles, and stable tables, whose order is
// fixed.
func TestTables_AreReordered(t *testing.T) {
	text := `handloom-stress 1
table a packed linked shards=3 chunk=4
table b stable rich shards=2
do
each tasks=1
  @0 emplace-items a %1*40 v=3
  @0 emplace-items b %101*9 v=3
flush
write
  set-now a %2 %4 %101 v=90
  set-now b %101 %2 v=91
  erase-now b %103
  defragment-table a by=1 budget=7
  defragment-table a by=1
  sort-table a
  sort-table-key a by=2
  sort-table b
  defragment-table a by=3 budget=1
end
`
	p, err := script.Parse([]byte(text), "test")
	noError(t, err)
	for _, c := range []script.Config{{Workers: 1}, {Workers: 4, Procs: 2, Shuffle: 3}} {
		if r := runner.Play(t.Context(), p, c, nil); r.Failure != nil {
			t.Errorf("%v: %v", c, r.Failure)
		}
	}
}
