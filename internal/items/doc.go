// Package items handles arrays of a type it does not know, so that code is compiled once instead of
// once per item type of a program.
//
//   - [Slice] is the header of a []T without T. Only code that knows T allocates the array, so
//     that the collector knows the content.
//   - [Type] describes T: its size, its digest, and the steps that must be typed for speed or for
//     write barriers of pointers. Steps are bulk steps where possible.
//   - [As] and [From] convert between both; they cost nothing.
//
// A Slice with a Type of another T corrupts memory. Few places keep both: a map, a table and a
// column.
package items
