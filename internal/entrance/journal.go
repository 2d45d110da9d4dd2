package entrance

// A Journal is a *journal.Journal, for package world, which does not import package journal.
type Journal interface {
	// Entrance gives the caller the sole right to write the journal until release. It reports
	// false if another has the right. A journal of OpenRead has no such right: release does
	// nothing.
	Entrance(Key) (release func(), ok bool)
}

// Folders are functions for folders of journals. They change nothing and need no lock.
type Folders struct {
	// Inspect reads all of the journal in dir, also while the journal is open, and calls each
	// with every record, in order, until it fails: Inspect returns that error. rec is valid
	// during the call.
	//
	// It reads records that a recovery would not, from before the snapshots that are kept,
	// and reports damage in them like any other.
	Inspect func(dir string, each func(at uint64, rec []byte) error) (Contents, error)

	// PlanRepair returns the files that journal.Repair would move, and the file that it would
	// cut, or "".
	PlanRepair func(dir string, from uint64) (moved []string, cut string, err error)
}

// Contents is the result of Inspect.
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
