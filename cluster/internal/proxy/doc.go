// Package proxy stands between processes on the loopback and spoils what they say to
// each other: it cuts or delays one direction of what two of them exchange, and heals it.
//
//	from ── dials ──> Link ── dials ──> to, wherever it listens now
//	          bytes of from are held, or late, or let through, each way for itself
//
// What is cut is held, as by a network that drops packets whose sender sends them
// again: a connection that both sides keep goes on when it is healed. The address of a
// Link is the same for as long as the Net is open, so that a process that is started
// again, and listens elsewhere, is found.
package proxy
