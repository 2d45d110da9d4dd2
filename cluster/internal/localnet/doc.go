// Package localnet is a local network for tests and demonstrations. [Start] runs NATS servers
// with JetStream in this process. A [Link] of a [Net] cuts, delays and heals each direction
// between two processes. A [Fleet] has three servers and three nodes, each in its own process, and
// kills, stops, cuts off and heals them.
//
//	nodes n0 n1 n2
//	  │  │  │
//	─ ┼ ─┼ ─┼ ─        links
//	  │  │  │
//	servers s0 s1 s2   nats-servers that sync each message
//	  └──┼──┘
//	─ ─ ─┼ ─ ─         links between the servers, too
//
// A cut holds bytes, like lost packets that are sent again, so connections survive. A Link
// keeps its address when its target restarts.
package localnet
