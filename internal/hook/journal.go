// Package hook has entrances of the library for other packages of the module, without
// public names. A package sets its variables in init, and they are nil in programs that do
// not import it.
//
//	journal   [InspectJournal], [PlanRepair]   for the command world/cmd/world
//	journal   [HoldJournal]                    for package world, which writes a journal
//	store     [OpenClaim]                      for package world, which drives a store
//	store     [NewProbe]                       for package history, which looks for causes
//	cluster   [PlanReseed]                     for the command cluster/cmd/reseed
//	world     [NewDriver]                      for package history, which changes inputs
//	world     [RedoOf]                         for package cluster/cells
//	world     [SkipDigests]                    for package history, which compares programs
package hook

// InspectJournal reads all of the journal in dir and changes nothing, also while the journal is
// open, and calls each with every record, in order, until it fails:
// InspectJournal returns that error. rec is valid during the call.
//
// It reads records that a recovery would not, from before the snapshots that are kept,
// and reports damage in them like any other.
var InspectJournal func(dir string, each func(at uint64, rec []byte) error) (Contents, error)

// PlanRepair returns the files that journal.Repair would move, and the file that it would cut, or
// "". It changes nothing and needs no lock.
var PlanRepair func(dir string, from uint64) (moved []string, cut string, err error)

// HoldJournal gives the caller the sole right to write a *journal.Journal until release. It
// reports false if another has the right. Other logs have no such right: release does nothing.
var HoldJournal func(log any) (release func(), ok bool)

// Contents is the result of [InspectJournal].
type Contents struct {
	Segments  []Segment
	Snapshots []uint64 // positions, ascending
	TornTail  string   // text of the unit that Open would cut or that is being written; "": none
	Damage    error    // the first journal.ErrCorrupt; the files after it were not read
}

// A Segment is a file of records.
type Segment struct {
	File        string
	First, Last uint64 // records; Last is before First if there are none
	Units       int
	Bytes       int64 // of the file
	Used        int64 // to the end of the last unit
}
