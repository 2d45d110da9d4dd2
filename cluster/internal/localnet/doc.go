// Package localnet is a local network for tests and demonstrations. [Start] runs NATS servers
// with JetStream in this process. A [Link] of a [Net] cuts, delays and heals each direction
// between two processes.
//
//	from ── dials ──> Link ── dials ──> to, at its current address
//	          bytes of each direction are held, delayed or passed
//
// A cut holds bytes, like a network that drops packets which the sender repeats: connections
// survive until the healing. A Link keeps its address when the process behind it restarts.
package localnet
