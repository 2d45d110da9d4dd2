// Package cluster keeps the log of a world on several machines: Log is a [world.Log] on a
// stream of NATS JetStream, which a quorum of servers acknowledges. It is a module of its
// own, so that who needs one machine alone inherits nothing.
// The guide's page is guide/several-machines.md.
//
// # Terms
//
//   - cell: one world, with one log. It has a number.
//   - stream: where JetStream keeps the messages of a cell. Their numbers are sequences.
//   - record: what one position of the log holds. Its position is its number, from 1.
//   - part: a message. A record of up to 900 KiB is one part, a longer one several.
//   - group: the parts of one record, one behind the other.
//   - stream leader: the server that orders the messages of a stream and knows what was
//     acknowledged.
//   - blobs: where snapshots are, which every node can reach.
//
// # A message
//
//	"HLM" | version u8 | number u64 | before [16] | sum [16] | part u16 | parts u16 | bytes
//
// number is that of the record, sum the first half of the SHA-256 of before and the whole
// record, and before is the sum of the record before. So each message says where it
// belongs, and a group is whole, or is seen not to be.
//
//	sequence   7       8       9       10      11
//	           12      13 1/3  13 1/2  13 2/2  14
//	                   └ void  └─── record 13  ┘
//
// An owner that dies between two parts leaves a group that nobody takes for a record. The
// next one appends behind it.
//
// # Invariants
//
//   - C1: a message is appended behind the sequence that its writer knows to be the last,
//     or not at all. Two owners cannot both append.
//   - C2: an error of Append leaves open whether the record is in the log. What a leader
//     says stands at the position answers that, and no answer answers nothing.
//   - C3: Read gives every record once, in order, each under its sum and behind the one
//     before it. A lost connection, a lost leader and a server that starts again are
//     waited for.
//   - C4: nothing but Trim and Reseed removes a message, and Trim only what two snapshots cover that
//     were read back.
//
// # Settings
//
// The settings of the stream are part of this: one that discards old messages when it is
// full, or lets any be deleted, eats the log that it keeps. Open makes the stream and
// refuses one with other settings, by [ErrSettings]. What a client cannot ask for is
// sync_always of the servers: without it, a power failure of all of them may take
// acknowledged records with it.
//
// # Where the stream leader is
//
// A process that dies with the stream leader in it costs the time of an election, 4 to 9
// seconds, instead of Options.ElectionTimeout. Let the servers be processes, best machines, of
// their own; where a server is in the process of a node, call [Log.StepDown] when that node
// becomes the owner.
//
// # What it does not do
//
// It keeps no snapshot on the node itself: nodes share them, and where they cannot nothing
// is trimmed. It compresses nothing, and has no opinion on who should own the log: that is the world's.
// Whoever may publish on the subject of a cell owns its world: give that right to nodes
// alone.
package cluster
