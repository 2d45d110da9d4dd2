// Package scenario runs workloads on a store at the pace of a frame loop, so
// that people see what their own machine makes of them.
//
// # Terms
//
//   - scenario: tables, what happens to their items in each tick, and how often
//     a tick is due. One of [Names], or a JSON file of one's own.
//   - tick: one Write that holds everything of a frame, its flush included.
//   - intended start: when a tick is due, whether or not the one before has ended.
//   - tick time: from the intended start of a tick to its end.
//   - late tick: one that ended after the next was due. With one of them a run that
//     nothing failed in is late, not passed.
//
// # One tick
//
//	passes   ForEach over the table of each pass: steps of arithmetic on every
//	         item in place; the first pass over a table also picks the items
//	         that this tick erases and puts
//	creates  Each with 16 tasks
//	inbox    calls of Inbox, as a network reader would make them
//	flush    Flush
//
// # What is measured
//
// A loop that waits for a late tick and then measures the next from where that
// happens to begin hides what a stall costs: the ticks that should have run
// meanwhile are never asked how late they were (coordinated omission). So tick
// time begins at the intended start, and no tick is left out. Without a rate a
// tick is due when the one before has ended.
//
// A run of so much time ends with the tick in which the time is over, however many
// are left: a machine that does not keep the pace plays fewer ticks.
//
// # Determinism
//
// What a tick does follows from the seed, the number of the tick and the items
// alone. The digest after the last tick is therefore the same for any number of
// workers and readers, on any machine that played as many ticks.
package scenario
