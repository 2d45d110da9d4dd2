package runner_test

import (
	"testing"

	"handloom/proof/model"
	"handloom/proof/runner"
	"handloom/proof/script"
)

// played plays a program of packed tables of words, t, u and w, the last with change
// lists, and the given steps.
func played(t *testing.T, head, steps string) *runner.Result {
	t.Helper()
	p, err := script.Parse([]byte("handloom-stress 1\n"+head+"table t packed word\ntable u packed word\ntable w packed word changes=1\ndo\n"+steps), "test")
	if err != nil {
		t.Fatal(err)
	}
	r := runner.Play(t.Context(), p, script.Config{Workers: 1}, nil)
	if r.Failure != nil {
		t.Fatalf("%v in\n%s", r.Failure, p.Text())
	}
	return r
}

// A state that counts although it did not come up makes a promise that nobody
// keeps. Each of these comes close to one.
func TestAStateThatDidNotComeUpIsNotCounted(t *testing.T) {
	for name, tt := range map[string]struct {
		not   model.Seen
		steps string
	}{
		"the null handle is of no other table":            {model.ForeignHandle, "each tasks=1\n@0 erase t %9\nflush\n"},
		"a handle out of range is of no other table":      {model.ForeignHandle, "write\ninsert t %1\nend\neach tasks=1\n@0 erase t %1+s\nflush\n"},
		"what a flush made real was not forged":           {model.ForgedFree, "each tasks=1\n@0 emplace t %1\nflush\neach tasks=1\n@0 erase t ~1\nflush\n"},
		"generation 0 is not stale on a reused slot":      {model.StaleReused, "write\ninsert t %1\nend\neach tasks=1\n@0 erase t %1-g\nflush\n"},
		"one row is not one more than a chunk":            {model.ChunkOneMore, "write\ninsert t %1\nend\nforeach t\n"},
		"queues of a segment each need no second one":     {model.SecondSegment, "each tasks=2\n@0 emplace-items t %1*9000\n@1 emplace-items t %20001*9000\nflush\n"},
		"tables of a segment each need no second one":     {model.SecondSegment, "each tasks=1\n@0 emplace-items t %1*9000\n@0 emplace-items u %20001*9000\nflush\n"},
		"a rollback over nothing pending drops nothing":   {model.RolledBackOverBatch, "checkpoint\nrollback\n"},
		"an empty table is not emptied":                   {model.Refilled, "each tasks=1\n@0 erase-all t\n@0 emplace t %1\nflush\n"},
		"nothing fills a table whose create is cancelled": {model.Refilled, "write\ninsert t %1\nend\neach tasks=1\n@0 erase-all t\n@0 emplace t %2\n@0 erase t %2\nflush\n"},
		"a later frame wrote what this one created":       {model.WroteCreated, "each tasks=1\n@0 emplace w %1\nflush\nwrite\nforeach w wrote=1\nend\n"},
		"what a flush has applied is pending no more":     {model.ExchangedOverSets, "add-column t word\nwrite\ninsert t %1\neach tasks=1\n@0 set t %1\nflush\nexchange t\nend\n"},
		"what waits for another column is not exchanged":  {model.ExchangedOverSets, "add-column t word\nadd-column t word\nwrite\neach tasks=1\n@0 set t %1 c=1\nexchange t\nend\n"},
		"a stale Set is of no erased item":                {model.SetToErased, "add-column t word\neach tasks=1\n@0 set t %9\nflush\n"},
		"a queue that sets its own create is no other":    {model.SetByOtherQueue, "add-column t word\neach tasks=1\n@0 emplace t %1\n@0 set t %1\nflush\n"},
		"a queue that sets an item twice is no second":    {model.SetByTwoQueues, "add-column t word\neach tasks=2\n@0 emplace t %1\n@0 set t %1\n@0 set t %1\n@1 emplace t %2\neach tasks=1\n@0 set t %2\n@0 set t %2\nflush\n"},
		"a queue knows the place of its own create":       {model.SupersededSet, "add-column t word\neach tasks=1\n@0 emplace t %1\n@0 set t %1\n@0 set t %1\nflush\n"},
		"a checkpoint behind a column is not before it":   {model.BeforeColumn, "add-column t word\ncheckpoint\nrollback\n"},
		"a column has no Unsets":                          {model.SetAndUnset, "add-column t word\neach tasks=1\n@0 emplace t %1\n@0 set t %1\n@0 unset t %1\n@0 set t %1\nflush\n"},
		"an Unset behind a Set of another item is alone":  {model.SetAndUnset, "add-sparse t word\nwrite\ninsert-items t %1*2\nend\neach tasks=1\n@0 set t %1\n@0 unset t %2\nflush\n"},
		"a create that is set at last is not unset":       {model.CreateUnset, "add-sparse t word\neach tasks=1\n@0 emplace t %1\n@0 unset t %1\n@0 set t %1\nflush\n"},
		"a Set of a column is none of optional data":      {model.OptionalToErased, "add-column t word\nwrite\ninsert t %1\nend\neach tasks=1\n@0 set t %1\n@0 erase t %1\nflush\n"},
		"nor is one of the column of a create":            {model.OptionalToCancelled, "add-column t word\neach tasks=1\n@0 emplace t %1\n@0 set t %1\n@0 erase t %1\nflush\n"},
		"the last row leaves no gap":                      {model.OptionalMoved, "add-sparse t word\neach tasks=1\n@0 emplace-items t %1*2\n@0 set t %1*2\nflush\neach tasks=1\n@0 unset t %2\nflush\n"},
		"what no item has is not taken from many":         {model.ManyUnset, "add-sparse t word\nwrite\ninsert-items t %1*99\nend\neach tasks=1\n@0 unset t %1*99\nflush\n"},
		"an item that has none loses none":                {model.OptionalErasedNow, "add-sparse t word\nwrite\ninsert t %1\nerase-now t %1\nend\n"},
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
