// Package localnet is a local network for tests and demonstrations. [Start] runs NATS servers
// with JetStream in this process. A [Link] of a [Net] cuts, delays and heals each direction
// between two processes.
//
//	from ── dials ──> Link ── dials ──> to, at its current address
//	          bytes of each direction are held, delayed or passed
//
// A cut holds bytes, like lost packets that are sent again, so connections survive. A Link
// keeps its address when its target restarts.
package localnet
