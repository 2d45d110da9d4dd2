// Package campaign plays one random program after another, each under several
// configurations, until it is told to stop or one fails; then it shrinks that.
//
//	seed ──> draw ──> program ──┬─> child, plainest configuration ──> result ─┐
//	                            ├─> child, drawn configuration ─────> result ─┼─> compare
//	                            └─> child, drawn configuration ─────> result ─┘
//
// The first configuration is played by one process and the others by another, so
// that what depends on a process shows. One seed in twenty is played once more
// under the first configuration.
//
// A child is a process of its own, so that a crash, a race or a deadlock becomes a
// verdict and does not end the campaign:
//
//	parent                                child
//	request, a line of JSON  ── stdin ──> plays the program
//	response, a line of JSON <─ stdout ── result
//	                         <─ stderr ── the text of a crash or a race
//
// A child ends when its standard input ends, in any state, so no child outlives its
// parent. A child also ends, after a report with the stacks of all goroutines, when a
// program exceeds its time. A program that has not begun by then has no result.
//
// A campaign passes when nothing failed and every rare state that its profile
// promises was seen; see [model.Seen].
//
// [model.Seen]: handloom/proof/model
package campaign
