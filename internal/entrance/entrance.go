// Package entrance has types of the library for other packages of the module, without public
// names. A library package has functions and methods named Entrance, which take a [Key] and
// return a value of this package:
//
//	(*store.Store).Entrance        [Store]      for world, history and proofs
//	(*store.Checkpoint).Entrance   *image.Tag   for world: the position in a log and the version
//	(*journal.Journal).Entrance    [Journal]    for world, which writes a journal
//	journal.Entrance               [Folders]    for the command world/cmd/world
//	(*world.World).Entrance        [State]      for cluster
//	(*world.Replayer).Entrance     [Driver]     for history, which changes inputs
//	cluster.Entrance               steps        for the command cluster/cmd/reseed
//
// [RedoOf] is for package cluster/cells. A test of package layout refuses variables of functions
// that other packages set: such an arrow is not an import.
package entrance

// A Key is the argument of functions named Entrance. Programs cannot name it, so they do not call
// these by mistake; a program that infers the type by a generic function of its own can.
type Key struct{ _ struct{} }
