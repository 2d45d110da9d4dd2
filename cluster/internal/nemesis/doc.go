// Package nemesis runs a game on three nodes and three servers, each in its own process. It
// injects faults of machines and networks, and checks that nothing acknowledged is lost or done
// twice, and that nodes never differ. Command nemesis draws faults from a deck; in command
// arena a player chooses them.
//
//	parent: clients ── calls ──> nodes n0 n1 n2     a world each, with 1, 2 and 8 workers,
//	                               │  │  │          and a journal of its own
//	parent: proxy                ─ ┼ ─┼ ─┼ ─        cuts, delays, heals each direction
//	                               │  │  │
//	                             servers s0 s1 s2   nats-servers that sync each message
//	                               └──┼──┘
//	parent: proxy                ─ ─ ─┼ ─ ─         between the servers, too
//
// An event kills, stops or cuts off processes for a while, then heals them. The next event
// follows when all processes are healthy. A seed repeats the deck and the faults, but not their
// timing in the processes.
//
// Nodes write each applied tick with its digest to a pipe, which survives them; clients keep
// acknowledgements; package audit compares both with the log. An outage is the longest gap
// between two new ticks, seen by the parent, from the last tick before an event until all
// processes are healthy.
package nemesis
