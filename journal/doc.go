// Package journal keeps a log of records and snapshots in a folder of the local disk. See
// guide/survive-a-kill.md for its use with package world.
//
// # Terms
//
//   - record: appended bytes. Its position is its number, from 1.
//   - snapshot: bytes that represent all records up to a position.
//   - unit: the records of one write, which one sync makes durable.
//   - segment: a file of units. A full segment is followed by a new segment.
//   - tail: the bytes past the last unit.
//
// # The folder
//
//	lock                      locked by the process that uses the folder; names the newest .log
//	0000000000000001.log      records 1 to 4,095
//	0000000000001000.log      records from 4,096 on; zeros past the last
//	next.tmp                  the next segment, being filled with zeros
//	0000000000000e10.snap     the state after records 1 to 3,600
//	0000000000001c20.snap
//	0000000000001f40.bad      a rejected snapshot
//
// # Promises
//
//   - J1: with Always, a record acknowledged by Append survives a kill, and a power failure if the
//     disk keeps acknowledged bytes.
//   - J2: records are read back as appended: checksums cover every byte of a unit and the order
//     of units.
//   - J3: damage is an error that names file and record, never a shorter or another log. Two
//     kinds of damage at the very end look like an unfinished write. A damaged last unit
//     is cut, and [Journal.CutText] reports it. A damaged block hides the units that begin in
//     it: if nonzero bytes remain, Open cuts or refuses them; zeros from the end of
//     a unit to the end of the file leave no trace. How many records such a block hides cannot be
//     known: no place outside of it has their number. A missing or short file is always found.
//
// # Torn ends and damage
//
// Each write is one unit after the last one, and the next write waits for its sync. So at most
// one unit is in flight at a power failure, and it is the last:
//
//	| unit 7 | unit 8 | un.t 9 | 0 0 0 ...      cut: 9 was never acknowledged
//	| unit 7 | un.t 8 | unit 9 | 0 0 0 ...      corrupt: 8 was synced before 9 was written
//
// Several writes per sync would break this: a disk may keep the second and lose the first.
// Every collects records into one unit instead. Files are filled with zeros in advance, so a
// sync writes only the unit, and the bytes past the last unit are known: a nonzero byte past
// the end of the torn unit, or the header of a later record, is damage.
//
// Before Open returns, it rewrites and syncs the last segment: the last process may have been
// killed before its sync, or its sync may have failed.
//
// Pebble, bbolt and others stop at the first invalid record: after one flipped bit they lose
// acknowledged records without an error.
//
// # Limits
//
// Records are neither compressed nor encrypted. A disk that loses acknowledged bytes is
// detected (J3), but not repaired.
//
// [Copy] copies a folder that is open. The lock is advisory: if lock or folder are
// removed, another process can open the folder. The Journal detects this when a segment begins,
// and is ErrBroken.
package journal
