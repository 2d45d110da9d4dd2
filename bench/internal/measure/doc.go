// Package measure runs cases side by side and keeps every sample.
//
// # Terms
//
//   - A case is one operation on one implementation, of one size.
//   - A comparison is the cases whose results are to be set side by side.
//   - A sample is one measured value of a case: what its bodies took on
//     average over a stretch of time.
//   - A round takes one sample of every case of a comparison.
//
// # How cases become comparable
//
// A machine is never as fast as it was a second ago: others use it, and it gets
// hot. So the cases of a comparison take turns, in an order that is drawn anew for
// each round, and what they are compared by are the samples of the same round,
// which saw the same machine. One round, the first, warms up and is dropped.
//
//	round 0 (dropped)    b  a  c
//	round 1              c  b  a      a1/b1   a1/c1
//	round 2              a  c  b      a2/b2   a2/c2
//	 ...                               median  median
//
// Before a sample the collector runs, so that nobody pays for the garbage of
// another, and one body runs untimed, so that nobody pays for cold caches. What
// the body itself leaves to the collector it pays for.
//
// The package knows nothing of what is measured.
package measure
