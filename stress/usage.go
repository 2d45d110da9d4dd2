package main

import (
	"fmt"
	"io"
	"slices"
)

const usage = `stress proves that the state of a store depends on what was recorded and on nothing
else: it plays programs and traces on stores with different numbers of workers,
and holds every answer to models that share no code with the store.

  go run ./stress                          the embedded trace on 1, 2, 4, 8 workers,
                                           then random programs for 20 seconds
  go run ./stress -profile NAME            random programs: smoke, pr, nightly, misuse, long
  go run ./stress -program FILE            one random program, such as one that failed
  go run ./stress -canary all              faults put in on purpose: each must be found
  go run ./stress replay TRACE             another trace
  go run ./stress import goalloc FILE -o OUT
                                           makes a trace of a real Go program
  go run ./stress -durable DIR -kills N    a program on a journal, killed N times
  go run ./stress inspect FILE|DIR         what is in a snapshot, or in a journal
  go run ./stress help profile|replay|import|durable|inspect
                                           more about these

What is checked of a trace, after every tick and for every number of workers: the
digest of the store and the report of the flush are those of the first number; the
report's counters, the length and the sums of each table, and each key that the
tick touched are what a plain Go map says. Every 16 ticks and at the end: all
items, both ways, and Verify.

The first line of output repeats the run. The last line is the verdict, because
go run hides the exit code:

  0    passed or verified
  1    inconclusive: something kept the run from its end
  2    wrong usage or malformed input: one line names file, line and reason
  10   an answer is not what a model says, or a trace does not replay alike
  11   an invariant is broken, or the store panicked
  12   two runs of one program differ
  14   a program does not end
  15   something is left behind: goroutines, memory, files
  16   a limit is not kept
  17   a handle that names nothing was accepted
  20   a fault put in on purpose was not found
  21   a rare state that the profile promises never came up
  66   a data race
  130  interrupted: what was played until then is checked
  143  the same, by SIGTERM
`

const usageProfile = `Usage: go run ./stress -profile NAME [flags]
       go run ./stress -program FILE [-shrink] [flags]
       go run ./stress -canary NAME|all|rare [flags]

Draws random programs, one from each seed, and plays each under several
configurations, every one in a process of its own: numbers of workers, GOMAXPROCS,
the order in which tasks are claimed, yields, delays, collections. Two models
predict every answer, and all configurations must come to the same digest and
report after every flush. A program that fails is made smaller while it still
fails, and written to a file.

  smoke     20 seconds (what "go run ./stress" does behind the trace)
  pr        2 minutes; every rare state must come up
  nightly   4 hours, programs twice as long
  misuse    20 seconds of calls that the documents refuse
  long      10 minutes of programs of 5,000 operations each

  -seed N          of the first program (default: random)
  -seeds K         plays K programs; or
  -duration D      plays as long, such as 30s (default: the profile's)
  -children N      pairs of processes (default 0: one for each processor)
  -shrink-time D   for making a failing program smaller (default 1m0s; 0: not at all)
  -artifacts DIR   where failing programs go (default artifacts)
  -html FILE       writes a report: one page without scripts, with charts

A run whose length the flags say promises no rare states. The programs are played by
the same build: "go run -race ./stress -profile pr" has the race detector see them, and
"go run -tags handloom_check ./stress" the checks.

  -program FILE    plays the program in FILE under the configurations that it
                   names, or some
  -shrink          and makes it smaller if it fails

FILE is text, one operation a line; package proof/script says what each
means. A program that is worth keeping goes to stress/testdata/regress, and is part
of go test and of every run from then on.

  -canary NAME     puts a fault on purpose into a build of what plays programs, from
                   copies of the source, and plays programs drawn at random alone until
                   one fails; exit code 20: none does
  -canary all      one fault after another that programs find in seconds
  -canary rare     all others, minutes each; what no program can see, such as memory
                   that is kept, a test must find, and the table names it
  -seed N  -seeds K  -duration D  -children N  -html FILE
                   as above; the time is per fault (default: 20s, or 3m)

The faults are the files stress/testdata/faults/NAME.patch; package
stress/internal/mutants says how they read.

Examples:

  go run ./stress -profile pr
  go run ./stress -profile smoke -seed 42 -seeds 1
  go run ./stress -program artifacts/seed42.program
  go run ./stress -canary all -seed 1
  go run ./stress -canary lifo -program artifacts/seed42.program
`

const usageReplay = `Usage: go run ./stress replay TRACE [-workers LIST] [-shards N] [-json FILE|-] [-html FILE]

Replays the trace in the file TRACE (see package internal/trace for the format; plain or
gzip; - is standard input) on a store for each number of workers. Flags may come
before or after TRACE. Without "replay TRACE" the embedded trace is replayed.

  -workers LIST   numbers of workers, 1 to 1024 each (default 1,2,4,8)
  -shards N       shards of every table, 1 to 64 (default 1)
  -json FILE|-    writes the outcome as one JSON document; with - it goes to
                  standard output and all else to standard error
  -html FILE      writes a report: one page without scripts, with charts

Examples:

  go run ./stress replay lifetimes.trace.gz -html report.html
  go run ./stress replay -workers 1,2,3,64 -shards 8 lifetimes.trace.gz
  go run ./stress replay lifetimes.trace.gz -json - | jq .verdict
  zcat lifetimes.trace.gz | go run ./stress replay -

Of the program that was traced the report tells, by type, how many objects were
created, updated and erased, how many there were at most, births and deaths in a
tick, and how many ticks they lived for, that of the birth included. The types have
the names that comments of the trace give them, "# table 7: ship"; import writes
those. And it tells what tables cost beside plain Go maps from key to item, to which
the same happens in the same run, by one goroutine: in all, in passes over all items,
in changes, and in memory at the end, each as a ratio. Changes are dear in ticks of
few events, for which a flush is begun all the same.

A program records itself by printing lines: see ExampleWriter in package
internal/trace.

Columns of the first table: events/s is over the time in phases (aging, recording,
flush, sums), without checks and digests; flush times are of the flushes that had
commands, and at most 1/64 too high; slots are live, vacant and depleted ones.

Exit codes: 0 verified, 10 mismatch, 2 wrong usage or malformed input (nothing
is replayed of the tick with the fault, or after it), 130 interrupted, 143 told to
end by SIGTERM. A second signal kills at once.
`

const usageImport = `Usage: go run ./stress import goalloc FILE -o OUT [-tables N] [-max N]

Makes a trace of the object lifetimes of a Go program, as the execution tracer
saw them: its heap objects, a table for each type, and its goroutines in table 0.
FILE is an execution trace; - is standard input.

  -o OUT        the trace to write, compressed if OUT ends in .gz; - is standard
                output
  -tables N     max tables, 2 to 1024; the rarest types share the last (default 64)
  -max N        max events; the trace is cut at a tick (default 0: all)

Example:

  GODEBUG=traceallocfree=1 go test -short -count=1 -trace out.trace -o t.test ./shard/handlemap
  go run ./stress import goalloc -o lifetimes.trace.gz out.trace
  go run ./stress replay lifetimes.trace.gz

A summary goes to standard error. Exit codes: 0 written, 2 wrong usage or
malformed input (one line names file and reason), 130 or 143 interrupted.
Unless it is 0, OUT is left as it was.
`

const usageDurable = `Usage: go run ./stress -durable DIR [-kills N] [-seed N]

Plays a program of package world on a journal in DIR, an empty folder or none, in a
process of its own, and kills that with SIGKILL at moments drawn from the seed: while
it recovers, between two ticks, in the middle of one, while it saves. Then another
process, with another number of workers, goes on. Each tick with its digest, and each
Submit that returned, is told through a pipe, which survives the process. At the end
the journal is replayed from the older snapshot with 5 workers.

  -kills N   how many (default 20)
  -seed N    of the moments (default: random)

What is checked: no tick that was told is missing or played again; each tick has one
digest, played or replayed, with 1, 2, 3, 5 and 8 workers; each key whose Submit
returned is in the state once; the journal has no damage, and nothing to be cut. A
kill is no power failure: those, package journal tests.

Columns: "in Open" are kills before the world was open, "replayed" ticks since the
last snapshot, "slowest start" the longest time from the start of a process to an
open world. DIR is left as it is: see go run ./stress inspect DIR.

Example:

  go run ./stress -durable /tmp/killed -kills 1000 -seed 1

Exit codes: 0 passed, 11 something was lost or differs, or a process failed, 2 wrong
usage, 130 interrupted, 143 told to end by SIGTERM.
`

const usageInspect = `Usage: go run ./stress inspect FILE|DIR [-schema] [-json]

Looks into FILE, a snapshot that Store.Snapshot or Checkpoint.WriteTo wrote, or
into DIR, the folder of a journal, with its snapshots. It knows no type of the
program, changes nothing, and a journal may be open meanwhile. All checksums and
digests are verified: the bytes are those that were written. Whether they are a
state, Store.Load says.

  -schema   prints the item type of each table and the types of its columns, as they
            were when it was written
  -json     prints one JSON document instead

Of a snapshot it prints the tag (record, tick, chain and program, which package
world sets), the digest of the store, and for each table

  typeIds   those of its shards
  rows      items
  slots     live, vacant and depleted ones
  bytes     of its shards, without checksums
  schema    a hash of the item type: the key of TableOptions.Migrate

and of a journal the files of records, the kinds of records, and the program, terms
and ticks if package world wrote them. Damage is told with file, record and byte, or
with table, shard and frame; journal.Repair cuts a journal before a record. The verdict
is "cut" if the last write did not end, or is in progress: Open clears its bytes.

Examples:

  go run ./stress inspect game.snap -schema
  go run ./stress inspect /var/lib/game -json | jq .records

Exit codes: 0 whole or cut, 11 damaged, 2 wrong usage or what cannot be read.
`

// help answers: help, and help with one of the topics.
func (p *command) help(words []string) int {
	topics := map[string]string{
		"": usage, "profile": usageProfile, "replay": usageReplay, "import": usageImport,
		"durable": usageDurable, "inspect": usageInspect,
	}
	topic := ""
	if len(words) > 0 && !slices.Contains([]string{"-h", "-help", "--help"}, words[0]) {
		topic = words[0]
	}
	text, ok := topics[topic]
	if !ok || len(words) > 1 {
		return p.misused("help", fmt.Errorf("no help about %q; want profile, replay, import, durable or inspect", words))
	}
	io.WriteString(p.stdout, text)
	return 0
}
