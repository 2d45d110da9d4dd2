// Package nemesis runs a game on three nodes over three servers, each a process of its own.
// It makes the faults of machines and networks, and checks that nothing is lost that was
// acknowledged, nothing is done twice, and no two nodes differ. Command nemesis makes the
// faults of a deck, command arena those of a player with a button.
//
//	parent: clients ── calls ──> nodes n0 n1 n2     a world each, with 1, 2 and 8 workers,
//	                               │  │  │          and a journal of its own
//	parent: proxy                ─ ┼ ─┼ ─┼ ─        cuts, delays, heals each direction
//	                               │  │  │
//	                             servers s0 s1 s2   nats-servers that sync each message
//	                               └──┼──┘
//	parent: proxy                ─ ─ ─┼ ─ ─         between the servers, too
//
// An event is drawn from a deck that the seed shuffles: something is killed, stopped, or
// cut off, for a while, then started, continued or healed; the next one follows when all
// is well again. Processes are real, so a seed repeats what is done, and not what comes
// of it.
//
// Nodes tell through a pipe, which survives them, each tick that they apply, with its
// digest; clients keep what was acknowledged; package audit holds both to the log. The
// time without ticks is measured where the parent hears of them: the longest gap between
// two new ones, from the last one before an event until all is well.
package nemesis
