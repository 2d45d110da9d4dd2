// Package localnet is the network of tests and demonstrations on the loopback: [Start]
// runs a cluster of NATS servers with JetStream in this process, and a [Link] of a [Net]
// cuts or delays one direction between two processes and heals it.
//
//	from ── dials ──> Link ── dials ──> to, at its current address
//	          bytes of each direction are held, delayed or passed
//
// A cut holds bytes, as a network that drops packets that the sender repeats: a
// connection that both sides keep continues after the healing. The address of a Link is
// the same until the Net closes, so a process that restarts with another address is
// found.
package localnet
