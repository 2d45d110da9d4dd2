// Package cells sends messages between cells, each exactly once. A cell is a store with one
// log: a world of package world, on any number of nodes. See guide/several-machines.md.
// Packages of NATS are not among its dependencies: [Local] carries messages in one process, and
// package cluster between machines.
//
// # Terms
//
//   - message: a value sent by a tick of one cell and received by a tick of another.
//   - pair: a sending and a receiving cell. Its messages are numbered from 1.
//   - packet: consecutive messages of a pair.
//   - mailbox: the packets for a cell, outside all states: see [Transport].
//   - cursor: the number of the last received message of a pair.
//   - dead letter: a message that failed its ticks and was moved aside.
//
// # Message flow
//
//	          sender                            mailbox            receiver
//	tick      Send: recorded, numbered, kept
//	Run         └─ packet after Acked ── Send ──→ kept
//	Run       Submit ←── it has the packet ────────┤
//	tick      Acked moves, messages erased         └─ Receive ──→ Submit
//	tick                                                          drops all but cursor+1 and on,
//	                                                              Received has them, cursor moves
//	Run                                          erased ←────────── the tick is in the log
//
// Ticks change the tables at both ends. So a message is sent if the sending tick is in the log
// of its cell, and received if the receiving tick is in the log of the other. No second log or
// transaction is needed.
//
// # Invariants
//
//   - C1: the numbers of a pair rise by one, in the order in which the sender's ticks recorded
//     the messages, for any number of workers.
//   - C2: the sender keeps each message after Acked, and the mailbox each one after the cursor
//     that is in the receiver's log, up to Acked.
//   - C3: the cursor moves by one, in the tick that receives the message or makes it a dead
//     letter. Only [Outbox.Skip] moves it further.
//   - C4: only messages in the log are sent, so a failed tick sends none.
//
// By C1 and C3, messages are received at most once and in order, even if packets are lost,
// repeated or delayed on their way to the mailbox. By C2 they are kept until they are received.
// There is no order between pairs.
//
// # Failure
//
// While a cell is not running, its messages are in its mailbox. If the mailbox is full, or does
// not exist because the cell has never run, they wait in the state of the sender, at most
// Options.Limit. Further messages to the cell are not sent, and [Outbox.Refused] returns them to
// the next tick. Messages to other cells continue. [Outbox.Problems] has the reasons.
//
// If a tick fails because of a received message, it runs again without the message, and the cell
// continues. After Options.Tries such ticks the message is a dead letter, equal on all nodes: see
// [Outbox.DeadLetters]. A tick that finds the message among n new ones runs about log2(n)+3
// times. Faults that end the process, such as a lack of memory, need an operator: start the
// program again with the number of the message in Options.Skip.
//
// If world.SkipInput replays a failed tick without its input, the cursor has not moved (C3),
// and the mailbox still has the messages.
//
// A receiver drops invalid packets, packets for other cells, and packets with a false sender. If a
// dropped packet had messages of the pair, the next packet shows the gap.
//
// A receiver that misses messages reports [ErrGap], because it was restored from a backup, or the
// mailbox lost them. No further message of the pair is received until Outbox.Skip. A receiver
// finds a restored sender when its packet has another message with the number of the last
// received one; earlier messages are lost. A restored sender that has sent fewer messages than
// were received learns that from the receiver, and stops. So restart a sender whose log lost ticks
// with another ID, and erase the mailbox of a cell whose peers were restored with it.
//
// A packet has the schema of its messages. A receiver of another version of the type matches fields
// by name, as [store.Store.Load] does: a new field is zero. A message with a field that the
// receiver lacks waits in the mailbox until a program that has the field leads.
//
// # Moving an item
//
// A tick erases the item and sends its data. The receiving tick creates it with another handle;
// use a key of your own for identity. The item is in one cell or in a message, never in two
// places.
//
// # Sources
//
// TCP and the transactional outbox of message brokers also use numbers and cursors that change
// with the state.
package cells
