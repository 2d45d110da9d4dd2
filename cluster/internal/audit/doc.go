// Package audit holds what nodes and clients of a world were told against its log. It
// keeps a copy of every record, so that it knows what the log trims, and shares no code
// with package world but the reading of a record's head, and the replay at the end.
//
//	A1: positions rise; each record names the chain of all before it.
//	A2: ticks have no gap, terms rise by one, time does not go back.
//	A3: what the log holds at a position is what it held there before.
//	A4: a tick that a node has applied is in the log, and has one digest, whoever plays
//	    or replays it, with any number of workers.
//	A5: a call that was acknowledged is in the log once, in the tick that was told;
//	    one that was refused is not; of any other there is at most one.
//
// A zombie whose record is not in the log, and that applied it, is found by A4: the
// state of the program must depend on all that was before.
package audit
