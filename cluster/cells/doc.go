// Package cells sends messages between cells, each exactly once. A cell is a store with one
// log: a world of package world, on any number of nodes. See guide/several-machines.md.
//
// # Terms
//
//   - message: a value sent by a tick of one cell and received by a tick of another.
//   - pair: a sending and a receiving cell. Its messages are numbered from 1.
//   - packet: consecutive messages of a pair.
//   - cursor: the number of the last received message of a pair.
//   - dead letter: a message that failed its ticks and was moved aside.
//
// # Message flow
//
//	          sender                                                receiver
//	tick      Send: recorded, numbered, kept in a table
//	            │
//	Run         └─ packet of messages after Acked ── Transport ──→ Submit
//	tick                                                           drops all but cursor+1 and on,
//	                                                               Received has them, cursor moves
//	Run       Submit ←───────────── Transport ──────── cursor ────────┘
//	tick      erased up to the cursor
//
// Ticks change the tables at both ends. So a message is sent if the sending tick is in the log
// of its cell, and received if the receiving tick is in the log of the other. No second log or
// transaction is needed.
//
// # Invariants
//
//   - C1: the numbers of a pair rise by one, in the order in which the sender's ticks recorded
//     the messages, for any number of workers.
//   - C2: the sender keeps each message after Acked. Acked never exceeds the cursor.
//   - C3: the cursor moves by one, in the tick that receives the message or makes it a dead
//     letter. Only [Outbox.Skip] moves it further.
//   - C4: only messages in the log are sent, so a failed tick sends none.
//
// By C1 and C3, messages are received at most once and in order, even if the transport loses,
// repeats, delays or reorders packets. By C2 they are sent until they are received. There is no
// order between pairs.
//
// # Failure
//
// While a cell is unreachable, its messages wait, at most Options.Limit. Further messages to it
// are not sent, and [Outbox.Refused] returns them to the next tick. Messages to other cells
// continue.
//
// If a tick fails because of a received message, it runs again without the message, and the cell
// continues. After Options.Tries such ticks the message is a dead letter, equal on all nodes: see
// [Outbox.DeadLetters]. A tick that finds the message among n new ones runs about log2(n)+3
// times. Faults that end the process, such as a lack of memory, need an operator: start the
// program again with the number of the message in Options.Skip.
//
// If world.SkipInput replays a failed tick without its input, the cursor has not moved (C3),
// and the messages are sent again.
//
// Two cells that disagree on the received messages stop with [ErrGap], which both report. This
// detects a restored receiver. It detects a restored sender that has sent fewer messages than were
// received before the restore, or when its packet has another message with the number of the last
// received one; earlier messages are lost. A sender restored by more than 4,096 messages may go
// undetected. So restart a sender whose log lost ticks with another ID.
//
// Packets wait while both cells disagree on the type of messages. Hand one cell over to the
// other version first.
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
