package runner_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"handloom/internal/check"
	"handloom/proof/runner"
	"handloom/proof/script"
)

// manyCommands returns a program of six flushes, in each of which two queues record n commands
// of each kind, or a part of n, for new, older and erased items. The last two are in a
// Write, with four times Clear and inserts after each.
func manyCommands(n int, r *rand.Rand) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	shards, made := 1+n%2, 1
	tables, parts, all := []string{"a", "b"}, map[string]int{"a": 4, "b": 2}, map[string][]int{}
	line("handloom-stress 1\ntable a packed rich shards=%d changes=1\ntable b stable rich shards=%d changes=1\ndo", shards, shards)
	line("add-column a word changes=1\nadd-column a rich\nadd-sparse a word changes=1\nadd-sparse a rich\nadd-sparse b rich changes=1\nadd-sparse b word")
	for flush := range 6 {
		if flush == 4 {
			line("write")
		}
		count := []int{n, n, n, 1 + n/3, 1 + n/3, 3 * n}[flush]
		firsts, known := map[string]int{}, map[string][]int{}
		line("each tasks=2")
		for _, table := range tables {
			known[table], firsts[table] = all[table], made
			for task := range 2 {
				line("@%d emplace-items %s %%%d*%d ~%d v=%d", task, table, made, count, firsts[table], task)
				line("@%d unset %s %%%d*%d c=%d", task, table, made, count, flush%2)
				for c := range parts[table] {
					from := r.IntN(count)
					line("@%d set %s %%%d*%d c=%d v=1", task, table, made+from, 1+r.IntN(count-from), c)
				}
				for range count {
					all[table] = append(all[table], made)
					made++
				}
			}
		}
		line("each tasks=2")
		for i := range 4 {
			table, task, older := tables[i/2], i%2, known[tables[i/2]]
			if flush > 2 {
				older = older[2*n:]
			}
			each := func(command, more string) {
				names := all[table]
				if r.IntN(3) == 0 {
					names = older
				}
				for _, i := range r.Perm(len(names))[:min(len(names), n)] {
					line("@%d %s %s %%%d %s", task, command, table, names[i], more)
				}
			}
			each("put", fmt.Sprintf("%%%d v=%d", firsts[table]+1, flush))
			for c := range parts[table] {
				each("set", fmt.Sprintf("c=%d v=%d", c, flush))
				each("unset", fmt.Sprintf("c=%d", c))
			}
			switch {
			case flush == 2 && task == 0:
				line("@0 erase-items %s %%%d*%d", table, older[0], 2*n)
			case task == flush%2:
				each("erase", "")
			case flush > 0:
				line("@%d erase-items %s %%%d*%d", task, table, older[r.IntN(len(older))], 1+r.IntN(n))
			}
		}
		line("flush")
		for range flush / 4 * 4 {
			line("clear a\nclear b\ninsert-items a %%%d*%d\ninsert-items b %%%d*%d", made, 2*n, made+2*n, 2*n)
			made += 4 * n
		}
	}
	line("end\nread %%1*%d", made)
	return b.String()
}

// The creates of a queue have two segments, which it and another queue set.
const manySegments = `handloom-stress 1
table a packed word
do
add-column a word
add-sparse a word
each tasks=1
  @0 emplace-items a %1*16500 v=7
  @0 set a %16000*500 %1 c=0 v=3
  @0 set a %16000*400 %1 c=0 v=4
  @0 set a %1*16500 c=1 v=5
  @0 unset a %16384*2
each tasks=1
  @0 set a %1*16500 c=0 v=2
  @0 set a %16380*90 c=1 v=6
  @0 erase-items a %16390*100
flush
`

func TestPlay_ManyCommandsInAQueue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{manySegments}
	sizes := []int{1, 2, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300, 600}
	switch {
	case check.Cheap:
		texts, sizes = nil, []int{1, 66}
	case testing.Short():
		texts, sizes = nil, []int{65, 260}
	}
	for _, n := range sizes {
		texts = append(texts, manyCommands(n, r))
	}
	for i, text := range texts {
		p, err := script.Parse([]byte(text), "test")
		noError(t, err)
		if r := runner.Under(t.Context(), p, script.Config{Workers: 1}, script.Config{Workers: 3, Shuffle: 1}); r.Failure != nil {
			t.Errorf("program %d of %d: %v", i, sizes, r.Failure)
		}
	}
}
