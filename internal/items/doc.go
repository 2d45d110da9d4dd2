// Package items lets code keep, grow, move and copy arrays of a type that it
// does not know, so that it is compiled once and not for every item type of a
// program.
//
//   - [Slice] is the header of a []T without the T. Only code that knows T makes
//     the array, so that the collector knows what lies in it.
//   - [Type] is what such code has to know of T: its size, how it is digested,
//     and the steps that must be typed, for speed or for the write barriers of
//     pointers. A step is told row numbers or memory, once for a whole bulk of
//     items where there is one.
//   - [As] and [From] are the way between the two worlds; they cost nothing.
//
// Who passes a Slice with a Type of another T corrupts memory. There are few
// such places: a map, a table and a column keep both side by side.
package items
