package runner_test

import (
	"testing"

	"handloom/proof/runner"
	"handloom/proof/script"
)

const first = `handloom-stress 1
seed 1
table a packed rich shards=3 chunk=4
table b stable rich shards=2 chunk=4 changes=1
table c packed word
do
write
  insert a %1 v=3
  insert-items b %2*20 v=3
  remove b %3
end
each tasks=3
  @0 emplace a %100 v=1 %1 ~100
  @0 emplace-self a %101 v=2 self=1
  @0 emplace-self a %102 v=2 erase=1
  @1 erase a %1 %1
  @1 put a %1 v=9 s=900
  @2 erase b %5
  @2 put b %6 %100 %7 v=2 s=901
  @2 emplace-items c %200*70
foreach b wrote=1
foreach b add=5 every=2 touch=1 wrote=2
  @1 erase b .0
  @1 emplace b %300 %301
  @0 erase-row i=1
flush
foreach a add=1
queues tasks=2
  @0 emplace a %400
  @1 erase a %100
inbox
  @0 erase a %400
  @0 emplace a %401 %400
flush-cancel-plan
flush
each tasks=4
  @2 panic
  @3 error
flush
each tasks=3
  @0 erase b %4
  @1 erase-all b
  @1 put b %6 v=2 s=950
  @2 erase-all b
  @2 erase b %4 %5
  @2 emplace b %500 %500
inbox
  @0 erase-all a
  @0 emplace a %501 %500
foreach c add=1
  @0 erase-all c
flush
misuse flush-in-read
read %1 %100 %400+g %401^63
write
  sort-table c by=1
  defragment-table c by=0 budget=5
  defragment-table c by=0
  clear b
end
`

// second includes stale and forged handles, and a stable table, whose order is
// fixed.
const second = `handloom-stress 1
table a packed rich shards=3 chunk=4
table b stable rich shards=2
do
each tasks=1
  @0 emplace-items a %1*40 v=3
  @0 emplace-items b %101*9 v=3
flush
write
  remove b %103
  defragment-table a by=1 budget=7
  defragment-table a by=1
  sort-table a
  sort-table-key a by=2
  sort-table b
  defragment-table a by=3 budget=1
end
`

func play(t *testing.T, text string, configs ...script.Config) (r *runner.Result) {
	t.Helper()
	p, err := script.Parse([]byte(text), "test")
	noError(t, err)
	for _, c := range configs {
		if r = runner.Play(t.Context(), p, c); r.Failure != nil {
			t.Fatalf("%v: %v in\n%s", c, r.Failure, text)
		}
	}
	return r
}

func TestPlay_RunsEveryOperation(t *testing.T) {
	for _, text := range []string{first, second} {
		play(t, text, script.Config{Workers: 1}, script.Config{Workers: 4, Procs: 2, Shuffle: 3, Yield: 100}, script.Config{Workers: 3, Team: 1})
	}
}

func TestMisuses_AreRefused(t *testing.T) {
	for _, word := range runner.Misuses() {
		play(t, "handloom-stress 1\ntable a packed word\ndo\nwrite\ninsert-items a %1*5\nend\nmisuse "+word+"\neach tasks=1\n@0 erase a %1\nflush\n", script.Config{Workers: 2})
	}
}
