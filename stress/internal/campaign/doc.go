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
// A campaign passes when nothing failed and every rare state that its profile
// promises was seen; see [model.Seen].
//
// [model.Seen]: handloom/proof/model
package campaign
