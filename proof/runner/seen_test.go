package runner_test

import (
	"testing"

	"handloom/proof/model"
	"handloom/proof/runner"
	"handloom/proof/script"
)

// played plays steps on packed tables of words: t, u, and w with change lists.
func played(t *testing.T, head, steps string) *runner.Result {
	t.Helper()
	return play(t, "handloom-stress 1\n"+head+"table t packed word\ntable u packed word\ntable w packed word changes=1\ndo\n"+steps, script.Config{Workers: 1})
}

// Each of these programs comes close to a state without reaching it.
func TestSeen_CountsOnlyReachedStates(t *testing.T) {
	for name, tt := range map[string]struct {
		not         model.Seen
		steps, head string
	}{
		"the null handle is not foreign":                {model.ForeignHandle, "each tasks=1\n@0 erase t %9\nflush\n", ""},
		"a handle out of range is not foreign":          {model.ForeignHandle, "write\ninsert t %1\nend\neach tasks=1\n@0 erase t %1+s\nflush\n", ""},
		"a handle from a flush is not forged":           {model.ForgedFree, "each tasks=1\n@0 emplace t %1\nflush\neach tasks=1\n@0 erase t ~1\nflush\n", ""},
		"generation 0 is not stale on a reused slot":    {model.StaleReused, "write\ninsert t %1\nend\neach tasks=1\n@0 erase t %1-g\nflush\n", ""},
		"one row is not one more than a chunk":          {model.ChunkOneMore, "write\ninsert t %1\nend\nforeach t\n", ""},
		"a rollback over nothing pending drops nothing": {model.RolledBackOverBatch, "checkpoint\nrollback\n", ""},
		"5 rows do not fill a chunk of thousands":       {model.ChunkFull, "write\ninsert-items t %1*5\nend\nforeach t\n", ""},
		"a full batch takes no pass":                    {model.MisuseRefused, "each tasks=1\n@0 emplace t %1\nmisuse flush-in-task\nmisuse each-in-task\n", "store batch=1\n"},
	} {
		if r := played(t, tt.head, tt.steps); r.Seen[tt.not] != 0 {
			t.Errorf("%s, but %v is counted %d times", name, tt.not, r.Seen[tt.not])
		}
	}
}
