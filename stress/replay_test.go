package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"handloom/internal/cli"
)

// A key that is created again in its tick, or updated in the tick of its create,
// is another item, or is staged.
func TestRecord_WritesTicksAsSteps(t *testing.T) {
	const events = "handloom-trace 1\nC 7 1\nC 0 4\nU 0 4\nU 7 1\nT\nE 7 1\nC 7 1\nU 0 4\nE 7 1\nT\n"
	r, err := record(t.Context(), strings.NewReader(events), "x", 2)
	noError(t, err)
	const want = `table t7 packed word shards=2
table t0 packed word shards=2
do
foreach t7 add=1
foreach t0 add=1
each tasks=16
  @5 emplace t7 %1 v=1
  @7 emplace t0 %2 v=2
  @7 put t0 %2 v=3
  @5 staged t7 %1 v=4
flush
reduce t7
reduce t0
write
  foreach t7 add=1
  foreach t0 add=1
  each tasks=16
    @5 erase t7 %1
    @5 emplace t7 %3 v=6
    @7 put t0 %2 v=7
    @5 erase t7 %3
  flush
  reduce t7
  reduce t0
end
`
	if _, got, _ := strings.Cut(string(r.script.Text()), "seed 0\n"); got != want || r.ticks != 2 || r.events != 8 {
		t.Errorf("%d ticks, %d events:\n%s", r.ticks, r.events, got)
	}
}

func TestReplay_ComparesWorkersAndShards(t *testing.T) {
	var events strings.Builder
	events.WriteString("handloom-trace 1\n")
	for i := range 300 { // every third item is updated and erased
		fmt.Fprintf(&events, "C %d %d\n", i%5, i*i)
		if i%3 == 2 {
			fmt.Fprintf(&events, "U %d %d\nT\nE %[1]d %[2]d\n", (i-1)%5, (i-1)*(i-1))
		}
	}
	p := command{stdin: strings.NewReader(events.String())}
	p.stress(t.Context(), "replay", "-", "-shards", "3", "-workers", "1,8").want(t, exitPassed, "shards 3 of each table",
		"verdict: verified (exit code 0): ticks 101, workers 1,8, the same digest after every tick")
}

func TestMalformedTraces_EndWithTheLine(t *testing.T) {
	for file, want := range map[string]string{
		"created-twice.txt": ":7: key 7 of table 3 is created twice; it is alive since line 2",
		"table-1024.txt":    `:4: table "1024" is out of range 0..1023`,
		"no-header.txt":     `:1: the first line is "trace of something else"; it should be "handloom-trace 1"`,
		"empty.txt":         `:1: the file is empty; its first line should be "handloom-trace 1"`,
		"no-ticks.txt":      ":1: the trace is empty: nothing follows its first line",
		"truncated.txt.gz":  ":1029: the gzip data is cut off after this line",
	} {
		got := stress(t, "replay", "testdata/"+file)
		if got.stderr != "testdata/"+file+want+"\n" {
			t.Errorf("got %q, want %q", got.stderr, file+want)
		}
		got.want(t, exitBad, "verdict: malformed (exit code 2): testdata/"+file+want)
	}
}

func TestReplay_RefusesTooManyTables(t *testing.T) {
	var events strings.Builder
	events.WriteString("handloom-trace 1\n")
	for table := range 512 { // of 64 typeIds each; 32,767 exist
		events.WriteString("C " + strconv.Itoa(table) + " 1\n")
	}
	p := command{stdin: strings.NewReader(events.String())}
	p.stress(t.Context(), "replay", "-", "-shards", "64", "-workers", "1").want(t, exitBad, "\nstdin:513: table 511 does not fit: ")
}

// Each cause ends the run at another part: while it reads the trace, and in the
// random programs, which follow the embedded trace.
func TestInterrupt_EndsWithTheVerdict(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	end(cli.ErrTerminated)
	command{}.stress(ctx).want(t, cli.ExitTerminated, "verdict: interrupted (exit code 143): nothing failed so far: ")
	if testing.Short() {
		t.Skip("it replays the whole trace")
	}
	ctx, end = context.WithCancelCause(t.Context())
	var out bytes.Buffer
	code := run(ctx, []string{"-workers", "2"}, strings.NewReader(""), writer(func(b []byte) (int, error) {
		if out.Write(b); strings.Contains(out.String(), "profile smoke: ") {
			end(cli.ErrInterrupted)
		}
		return len(b), nil
	}), io.Discard)
	got := outcomeOf{code, out.String(), ""}
	got.want(t, exitInterrupted, "verdict: interrupted (exit code 130): ", "\nthe trace is verified: ticks 857, workers 2, ")
	if first, _, _ := strings.Cut(got.stdout, "\n"); first != again("-workers", "2") || strings.Count(got.stdout, "verdict: ") != 1 {
		t.Errorf("got %s", got.stdout)
	}
}

type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
