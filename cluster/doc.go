// Package cluster keeps the log of a world on several machines. [Log] is a [world.Log] on a
// stream of NATS JetStream; a quorum of servers acknowledges each record. It is a separate
// module, so other programs do not depend on NATS. See guide/several-machines.md and guide/many-cells.md.
//
// # Terms
//
//   - cell: one world with one log. It has a number.
//   - leader: the node whose world appends records.
//   - stream: the messages of a cell in JetStream. Their numbers are sequences.
//   - record: the content of a position of the log. Positions begin at 1.
//   - fragment: a message of a record. Records above 900 KiB have several.
//   - stream leader: the server that orders the messages of a stream.
//   - bucket: the stream of a cell's snapshots, an object store of JetStream.
//   - blobs: another storage of snapshots, shared by all nodes.
//
// # A message
//
//	"HLM" | version u8 | number u64 | before [16] | sum [16] | fragment u16 | fragments u16 | bytes
//
// number is the record's number, before the sum of the previous record, and sum the first half
// of the SHA-256 of before and the whole record.
//
//	sequence   7       8       9       10      11
//	           12      13 1/3  13 1/2  13 2/2  14
//	                   └ void  └─── record 13  ┘
//
// If a leader dies between two fragments, readers skip the record, and the next leader appends
// after it.
//
// # Invariants
//
//   - C1: a writer appends only directly after the last sequence it knows, so two leaders cannot
//     both append.
//   - C2: after an error of Append the outcome is unknown. Only the record that the stream
//     leader has at that position decides it.
//   - C3: Read returns every record once, in order, with verified sums. It waits for lost
//     connections, elections and restarting servers.
//   - C4: only Trim and Reseed remove messages. Trim removes only records covered by two
//     snapshots that were read back.
//   - C5: a message is part of the log only if its writer named the previous sequence in the
//     header that C1 uses. Any other message is foreign, and void like an incomplete record.
//
// # Snapshots
//
// A snapshot is two blobs: its bytes and, once they were read back, their SHA-256. Then the node
// removes snapshots that are older than two others. Several nodes may save at once. A save that
// dies leaves a part, which a later save removes. Without Options.Snapshots the blobs are objects in
// the bucket.
//
// # Settings
//
// stream.go has all streams and their settings. A stream that discards or deletes messages loses
// records. Open creates the stream and the bucket, and refuses other settings with [ErrSettings]. A
// Log also compares them with each answer about the state of the stream, and at least every two
// seconds while it appends. Wrong settings of the stream fail Append and Trim until they are restored. Wrong settings of the
// bucket fail all calls for snapshots. A client cannot query the servers' sync_always: without
// it, a power failure of all servers can lose acknowledged records.
//
// # Stream leader
//
// If the leader's process contains the stream leader, its death costs an election of 4 to 9
// seconds instead of Options.ElectionTimeout. Run servers in separate processes, best on
// separate machines, or call [Log.StepDown] when the node becomes the leader.
//
// # Many cells
//
// [Join] makes a process a node of many cells. The bucket "handloom" has an entry for each cell and
// each node, and nodes with equal entries compute equal assignments, by rendezvous hashing. So
// no node leads the placement. Nodes that disagree for a moment do no harm, because C1 holds. A
// node renews its entry every 2.5 s. After four such beats of its own it removes a node that has
// renewed nothing, so clocks do not matter.
//
// A cell that moves is opened on its new node first, then handed over if it is led, and closed
// last, one cell at a time.
//
// # Mailboxes
//
// The stream MAIL_HANDLOOM-<cell> has the packets for a cell, on handloom.mail.<to>.<from>.<outbox>.
// The acknowledgement of a packet is its arrival in the mailbox, and the sender erases its messages.
// Only the leader of the cell reads the stream, with a consumer without acknowledgements, and purges
// it each second up to the lowest sequence that is not in its log. So a leader that was deposed
// purges nothing that is needed. Limit: 65,536 packets of each sender. Above it the servers refuse its
// packets, and the sender keeps them. Disk is not reserved.
//
// # Calls
//
// The leader of a cell subscribes to handloom.call.<cell>; see [Log.Serve] and [Client.Call]. A
// call has a key with the time of its begin, by the time of the cell's ticks as the client knows
// it. [world.Requests] keeps an answer for its time after the later of answer and begin, and refuses
// a call that began longer ago. So a call counts at most once, for any clocks and delays.
//
// # Limits
//
// A Log keeps no snapshots on the node: if they cannot be saved, nothing is trimmed. The worlds
// elect the leader. Every client that can publish on the subject of a cell controls its world:
// go run ./cluster/cmd/config writes rights for its nodes only.
package cluster
