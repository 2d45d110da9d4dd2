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
	known := map[string][]int{}
	line("handloom-stress 1\ntable a packed rich shards=%d changes=1\ntable b stable rich shards=%d changes=1\ndo", shards, shards)
	line("add-column a word changes=1\nadd-column a rich\nadd-sparse a word changes=1\nadd-sparse a rich\nadd-sparse b rich changes=1\nadd-sparse b word")
	for flush := range 6 {
		if flush == 4 {
			line("write")
		}
		line("each tasks=2")
		for _, table := range []string{"a", "b"} {
			older, first, count := known[table], made, n
			switch flush {
			case 3, 4:
				older, count = older[2*n:], 1+n/3
			case 5:
				count = 3 * n
			}
			for task := range 2 {
				line("@%d emplace-items %s %%%d*%d ~%d v=%d", task, table, made, count, first, task)
				for range count {
					known[table] = append(known[table], made)
					made++
				}
			}
			for task := range 2 {
				each := func(command, more string) {
					names := known[table]
					if r.IntN(3) == 0 {
						names = older
					}
					for _, i := range r.Perm(len(names))[:min(len(names), n)] {
						line("@%d %s %s %%%d %s", task, command, table, names[i], more)
					}
				}
				each("put", fmt.Sprintf("%%%d v=%d", first+1, flush))
				for c := range 4 - 2*(int(table[0]-'a')) {
					if r.IntN(2) == 0 {
						line("@%d set %s %%%d*%d c=%d v=1", task, table, first+task*count, 1+r.IntN(count), c)
					}
					each("set", fmt.Sprintf("c=%d v=%d", c, flush))
				}
				each("unset", "c=0")
				each("unset", "c=1")
				switch {
				case flush == 2 && task == 0:
					line("@0 erase-items %s %%%d*%d", table, older[0], 2*n)
				case task == flush%2:
					each("erase", "")
				case flush > 0:
					line("@%d erase-items %s %%%d*%d", task, table, older[r.IntN(len(older))], 1+r.IntN(n))
				}
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

func TestPlay_ManyCommandsInAQueue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sizes := []int{1, 2, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300, 600}
	switch {
	case check.Cheap:
		sizes = []int{1, 66}
	case testing.Short():
		sizes = []int{65, 260}
	}
	for _, n := range sizes {
		p, err := script.Parse([]byte(manyCommands(n, r)), "test")
		noError(t, err)
		if f := runner.Under(t.Context(), p, script.Config{Workers: 1}, script.Config{Workers: 3, Shuffle: 1}); f != nil {
			t.Errorf("%d commands: %v", n, f)
		}
	}
}
