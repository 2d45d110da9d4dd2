// Package campaign plays random programs, each under several configurations,
// until it is stopped or a program fails. It shrinks the failing program.
//
//	seed ──> draw ──> program ──┬─> child, plainest configuration ──> result ─┐
//	                            ├─> child, drawn configuration ─────> result ─┼─> compare
//	                            └─> child, drawn configuration ─────> result ─┘
//
// One process plays the first configuration and another the others, so
// dependencies on the process show. One seed in twenty is played twice under
// the first configuration.
//
// A child process turns a crash, race or deadlock into a verdict without ending
// the campaign:
//
//	parent                                child
//	request, a line of JSON  ── stdin ──> plays the program
//	response, a line of JSON <─ stdout ── result
//	                         <─ stderr ── the text of a crash or a race
//
// A child ends with its standard input, in any state, so no child outlives its
// parent. A child also ends when a program exceeds its time, after reporting
// the stacks of all goroutines. A program that has not begun by then has no
// result.
//
// A campaign passes if no program failed and every rare state promised by its
// profile occurred; see [model.Seen].
//
// [model.Seen]: handloom/proof/model
package campaign
