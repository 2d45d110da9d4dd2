// Package audit compares reports of nodes and clients with the log of a world. It copies every
// record before the log trims it. It shares only the final replay with package world.
//
//	A1: positions rise, and the time of ticks never decreases.
//	A2: a replay of every record succeeds: chain, terms and ticks have no gaps.
//	A3: a record never changes.
//	A4: an applied tick is in the log, with one digest for all nodes, replays and workers.
//	A5: an acknowledged call is in the log once, in the reported tick; an uncertain call is there
//	    at most once.
//
// A4 finds a zombie's tick that is not in the log, if the state depends on the whole past.
package audit
