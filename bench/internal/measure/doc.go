// Package measure runs cases side by side and keeps every sample.
//
// # Terms
//
//   - case: one operation on one implementation, of one size.
//   - comparison: cases whose results are compared.
//   - sample: one measured value of a case, an average over several bodies.
//   - round: one sample of every case of a comparison.
//
// # Comparisons
//
// The speed of a machine varies from second to second. So the cases of a
// comparison alternate, in a random order per round, and are compared by
// samples of the same round. The first round warms up and is dropped.
//
//	round 0 (dropped)    b  a  c
//	round 1              c  b  a      a1/b1   a1/c1
//	round 2              a  c  b      a2/b2   a2/c2
//	 ...                               median  median
//
// Before a sample the collector runs, and one body runs untimed to warm the
// caches. So a case does not pay for the garbage or caches of another, but it
// pays for its own garbage.
package measure
