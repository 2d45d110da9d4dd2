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
	p, err := script.Parse([]byte("handloom-stress 1\n"+head+"table t packed word\ntable u packed word\ntable w packed word changes=1\ndo\n"+steps), "test")
	noError(t, err)
	r := runner.Play(t.Context(), p, script.Config{Workers: 1}, nil)
	if r.Failure != nil {
		t.Fatalf("%v in\n%s", r.Failure, p.Text())
	}
	return r
}

// Each of these programs comes close to a state without reaching it.
func TestSeen_CountsOnlyReachedStates(t *testing.T) {
	for name, tt := range map[string]struct {
		not   model.Seen
		steps string
	}{
		"the null handle is of no other table":          {model.ForeignHandle, "each tasks=1\n@0 erase t %9\nflush\n"},
		"a handle out of range is of no other table":    {model.ForeignHandle, "write\ninsert t %1\nend\neach tasks=1\n@0 erase t %1+s\nflush\n"},
		"what a flush made real was not forged":         {model.ForgedFree, "each tasks=1\n@0 emplace t %1\nflush\neach tasks=1\n@0 erase t ~1\nflush\n"},
		"generation 0 is not stale on a reused slot":    {model.StaleReused, "write\ninsert t %1\nend\neach tasks=1\n@0 erase t %1-g\nflush\n"},
		"one row is not one more than a chunk":          {model.ChunkOneMore, "write\ninsert t %1\nend\nforeach t\n"},
		"a rollback over nothing pending drops nothing": {model.RolledBackOverBatch, "checkpoint\nrollback\n"},
	} {
		if r := played(t, "", tt.steps); r.Seen[tt.not] != 0 {
			t.Errorf("%s, but %v is counted %d times", name, tt.not, r.Seen[tt.not])
		}
	}
	if r := played(t, "", "write\ninsert-items t %1*5\nend\nforeach t\n"); r.Seen[model.ChunkFull] != 0 {
		t.Errorf("5 rows fill a chunk of thousands")
	}
	if r := played(t, "store batch=1\n", "each tasks=1\n@0 emplace t %1\nmisuse flush-in-task\nmisuse each-in-task\n"); r.Seen[model.MisuseRefused] != 0 {
		t.Error("a batch that is full takes no pass, and its misuse is counted")
	}
}
