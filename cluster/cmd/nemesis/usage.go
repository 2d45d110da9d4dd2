//go:build unix

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"handloom/cluster/internal/nemesis"
)

const usageHead = `Usage: go run ./cluster/cmd/nemesis [flags]

Plays one world on three nodes, with 1, 2 and 8 workers, over three NATS servers that
sync each message, all processes of their own on this machine, with a proxy on every
connection; kills, stops and cuts off what the seed says, one thing after another, while
clients call; and checks that nothing is lost. No ports, folders or servers need to be
set up.

  -duration D   for so long, such as 30m (default 1m0s), once all is up, which takes
                some 10 s; the event that is under way then is the last
  -seed N       of what is done, to whom and for how long (default: random); with
                an even one snapshots are in a folder, else in the object store
  -hz N         ticks per second (default 20)
  -clients N    that call, each one call at a time (default 8)
  -only LIST    of the events below, with commas between (default: all)
  -canary NAME  puts a fault into every node, which must be found
  -json FILE|-  writes what came of it as one JSON document
  -dir DIR      for logs, journals and stores (default: a temporary one)
  -keep         leaves it; a run in which something is wrong always does

What is checked: each call that was acknowledged is in the log once, in the tick that was
told, and each that was refused is not; ticks have no gap and terms rise by one; each
record follows the chain of all before it, and stays what it was; each tick that any node
applied or replayed has the digest that a fourth store with 5 workers comes to, which
replays every record there ever was; an owner that was stopped or cut off while another
took over finds out, and nothing of its own was applied.

What is told: for each kind of event, and for all with and without loss of the stream's
leader, the longest time in which no node applied a tick, from the last one before it
until all was well. When the owner alone is lost, 500 ms at p99 are wanted, of which a
takeover waits for 300 ms; with the leader, 12 s. A busy machine takes longer, and no exit code depends on it. Two terms
within ten waits make the next wait longer: events keep that distance, but for one kind.

Events, and how often each is in a deck of %d:

`

const usageTail = `
The last line is the verdict, because go run hides the exit code:

  0    passed; with -canary: found
  1    failed: something kept the run from its end
  2    wrong usage
  11   lost: something is lost, changed, done twice, or differs
  14   stuck: the cluster does not come back behind an event
  20   with -canary: missed
  130  interrupted: what was done until then is checked
  143  the same, by SIGTERM

Examples:

  go run ./cluster/cmd/nemesis -duration 5m -seed 1
  go run ./cluster/cmd/nemesis -only kill-leader,stop-owner -keep
  go run ./cluster/cmd/nemesis -canary ack-before-append -only kill-owner
`

// usage is what -h tells.
func usage() string {
	var b strings.Builder
	kinds := nemesis.Kinds()
	all := 0
	for _, k := range kinds {
		all += k.Weight
	}
	fmt.Fprintf(&b, usageHead, all)
	for _, k := range kinds {
		fmt.Fprintf(&b, "  %-18s %3d  %s\n", k.Name, k.Weight, k.About)
	}
	b.WriteString("\nFaults for -canary:\n\n")
	for _, name := range slices.Sorted(maps.Keys(nemesis.Canaries)) {
		fmt.Fprintf(&b, "  %-18s %s\n", name, nemesis.Canaries[name])
	}
	b.WriteString(usageTail)
	return b.String()
}
