// Package cells lets cells talk to each other, each message exactly once. A cell is a store
// with one log: a world of package world, on any number of nodes.
// The guide's page is guide/several-machines.md.
//
// # Terms
//
//   - message: a value that a tick of one cell sends, and a tick of another one receives.
//   - pair: a cell that sends and one that receives. Its messages are numbered from 1.
//   - parcel: messages of a pair whose numbers follow each other, on their way.
//   - cursor: the number of the last message of a pair that was received.
//
// # The way of a message
//
//	          sender                                                receiver
//	tick      Send: recorded, numbered, kept in a table
//	            │
//	Run         └─ parcel of what is behind Acked ── Transport ──→ Submit
//	tick                                                           what is not cursor+1 is dropped,
//	                                                               Received has the rest, cursor moves on
//	Run       Submit ←───────────── Transport ──────── cursor ────────┘
//	tick      erased up to the cursor
//
// Both ends are tables, and both changes are made by ticks: a message is sent if the
// record of the tick that sent it is in the log of its cell, and received if the record
// that has it is in that of the other. Each cell can be recovered, followed and replayed
// without the other one. There is no second log, and no transaction.
//
// # Invariants
//
//   - C1: the numbers of a pair rise by one, in the order in which the ticks of the sender
//     recorded the messages, for any number of workers.
//   - C2: the sender keeps each message behind Acked, and Acked is never ahead of the cursor.
//   - C3: the cursor moves by one, in the tick that receives the message, and by nothing else
//     but [Outbox.Skip].
//   - C4: what is shipped is in the log. No message of a tick that failed is.
//
// By C1 and C3 whatever the transport loses, doubles, delays or mixes up, a message is
// received at most once and in order; by C2 it is shipped until it was. There is no order
// among pairs, and there is no moment that two cells share.
//
// # Failure
//
// A cell that is away, or has no owner, keeps its senders' messages waiting; an outbox
// that is full fails the tick that sends more ([Outbox.Available] tells before).
//
// A tick that fails, and is played without its input by world.SkipInput, received nothing:
// its messages are not in the state, and the cursor has not moved (C3), so they are shipped again and
// come with another tick. If it is the message that makes the tick fail, that one fails as
// well. Then the world is opened without Run, is submitted an Outbox.Skip of the number, which
// loses that one message on purpose, and goes on.
//
// Two cells that do not agree on what has arrived stop ([ErrGap]). This is found for a
// receiver that was restored, and for a sender that was as long as it has sent less than was
// received before; past that, its messages are taken for those that the receiver has. So a
// sender whose log has lost ticks is begun anew, with another ID.
//
// A parcel whose messages are of another type than those of the receiver waits: of two cells
// with other versions of a program one is to be handed over first.
//
// # Moving an item
//
// A tick erases the item and sends what it was; the tick that receives it creates it, with
// another handle. What must survive has a key of the program's own. At every moment the item
// is in the tables of the one, in a message, or in the tables of the other cell: never in
// two, and from the tick on that receives it in the second.
//
// # Sources
//
// Numbers and cursors, and state that moves with them in one step, are how TCP and the
// transactional outbox of message brokers do it.
package cells
