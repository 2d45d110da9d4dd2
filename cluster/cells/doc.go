// Package cells sends messages between cells, each exactly once. A cell is a store with one
// log: a world of package world, on any number of nodes. The guide's page is
// guide/several-machines.md.
//
// # Terms
//
//   - message: a value sent by a tick of one cell and received by a tick of another.
//   - pair: a sending and a receiving cell. Its messages are numbered from 1.
//   - packet: consecutive messages of a pair.
//   - cursor: the number of the last message of a pair that was received.
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
// Both ends are tables, changed by ticks. So a message is sent if the sending tick is in the
// log of its cell, and received if the receiving tick is in the log of the other. Each cell is
// recovered, followed and replayed alone. There is no second log and no transaction.
//
// # Invariants
//
//   - C1: the numbers of a pair rise by one, in the order in which the sender's ticks recorded
//     the messages, for any number of workers.
//   - C2: the sender keeps each message after Acked. Acked never exceeds the cursor.
//   - C3: the cursor moves by one, in the tick that receives the message. Only [Outbox.Skip]
//     moves it further.
//   - C4: only messages in the log are sent, so a failed tick sends none.
//
// By C1 and C3, a message is received at most once and in order, even if the transport loses,
// repeats, delays or reorders packets. By C2 it is sent until it is received. Pairs are not
// ordered among each other, and cells do not share a clock.
//
// # Failure
//
// While a cell is unreachable, its messages wait. A full outbox fails the tick that sends more;
// see [Outbox.Available].
//
// After world.SkipInput replays a failed tick without its input, its messages are not received
// and the cursor has not moved (C3). They are sent again. If one message fails every tick, open
// the world without Run, submit an Outbox.Skip of its number, and continue: this one message is
// lost.
//
// Two cells that disagree on the received messages stop with [ErrGap]. This detects a restored
// receiver. It detects a restored sender only until the sender has sent as many messages as
// were received before; later messages would pass for the received ones. So restart a sender
// whose log lost ticks with another ID.
//
// If both cells disagree on the type of messages, packets wait. Hand one cell over to the other
// version first.
//
// # Moving an item
//
// A tick erases the item and sends its data. The receiving tick creates it with another handle.
// Use a key of your own for identity. At any moment the item is in one cell or in a message,
// never in two places.
//
// # Sources
//
// TCP and the transactional outbox of message brokers also use numbers and cursors that change
// with the state in one step.
package cells
