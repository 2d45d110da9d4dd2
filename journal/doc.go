// Package journal keeps a log of records, and snapshots of what they led to, in a
// folder of the local disk, so that a program that is killed, or loses its power,
// goes on where it was. It knows nothing of what a record or a snapshot means. The
// guide's page, with package world, is guide/survive-a-kill.md.
//
// # Terms
//
//   - record: bytes that were appended. Its position is its number, from 1.
//   - snapshot: bytes that stand for all records up to a position.
//   - unit: the records of one write, which one sync makes durable.
//   - segment: a file of units. Full, it is followed by another one.
//   - tail: what lies behind the last unit.
//
// # The folder
//
//	lock                      held by the process that has the folder open; names the newest .log
//	0000000000000001.log      records 1 to 4,095
//	0000000000001000.log      records from 4,096 on; zeros behind the last
//	next.tmp                  the segment to come, being filled with zeros
//	0000000000000e10.snap     what records 1 to 3,600 led to
//	0000000000001c20.snap
//	0000000000001f40.bad      a snapshot that was rejected
//
// # What is promised
//
//   - J1: a record that Append returned for, with Always, is read back after a
//     kill, and after a power failure if the disk keeps what it acknowledged.
//   - J2: what is read back is what was appended: each byte of a unit, and the
//     order of all units, is under a checksum.
//   - J3: damage is an error that names file and record, never a shorter or
//     another log. Two kinds of damage at the very end cannot be told from a write
//     that did not end. The last unit, damaged after it was acknowledged, is cut,
//     and [Journal.Truncated] reports it. A damaged block hides the units that begin
//     in it: where bytes that are not zero are left, Open cuts or refuses them;
//     zeros from the end of a unit to the end of the file leave no trace.
//     A file that is missing or too short is always found.
//
// # Why the end can be told from damage
//
// One write puts one unit behind the last, and nothing else is written before its
// sync has come back. So at most one unit is in flight when the power fails, and
// it is the last:
//
//	| unit 7 | unit 8 | un.t 9 | 0 0 0 ...      cut: nobody was told that 9 is kept
//	| unit 7 | un.t 8 | unit 9 | 0 0 0 ...      corrupt: 8 was synced before 9 was written
//
// Several writes for each sync would break this: a disk may keep the second and
// lose the first. Every collects records into one unit instead. The files are
// filled with zeros ahead, so that a sync has nothing but the unit to write, and
// the bytes past the last unit are known: another byte than 0 past the end of the
// torn unit, or a header of a later record, is damage.
//
// Before it returns, Open writes and syncs the last segment once more: the process
// before may have been killed before its sync, or its sync may have failed.
//
// Pebble, bbolt and others that end at the first record that is not whole would
// lose, on one flipped bit, records that they had acknowledged, and say nothing.
//
// # What it does not do
//
// It has one writer, compresses nothing, keeps nothing secret, and believes the
// disk: one that loses what it acknowledged is found (J3), but not healed.
//
// A copy of a folder that is open must not have a newer file lock than its segments:
// copy lock first, or leave it out. The lock is advisory: if it or the folder is
// removed, another process gets in. A Journal finds this out when a segment begins,
// and is ErrBroken.
package journal
