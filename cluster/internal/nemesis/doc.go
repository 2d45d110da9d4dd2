// Package nemesis runs a world on the nodes of a [localnet.Fleet], with 1, 2 and 8 workers and a
// journal each. It injects faults of machines and networks while clients call, and checks that
// nothing acknowledged is lost or done twice, and that nodes never differ.
//
// An event kills, stops, cuts off or slows processes for a while, then heals them. The next event
// follows when all processes are healthy. A seed repeats the deck and the faults, but not their
// timing in the processes.
//
// Nodes write each applied tick with its digest to a pipe, which survives them; clients keep
// acknowledgements; package audit compares both with the log. An outage is the longest gap
// between two new ticks, seen by the parent, from the last tick before an event until all
// processes are healthy.
package nemesis
