// Package logfiles has the reading of a journal's files for tools: the program stress
// inspects folders with it. Package journal sets [Inspect], because it alone knows the
// format.
package logfiles

// Inspect reads all of the journal in dir and changes nothing, also while the journal is
// open, and calls each with every record, in order, until it fails: Inspect returns that
// error. rec is valid during the call.
//
// It reads records that a recovery would not, from before the snapshots that are kept,
// and reports damage in them like any other.
//
// It is nil in programs that do not import package journal.
var Inspect func(dir string, each func(at uint64, rec []byte) error) (Contents, error)

// Contents is the result of [Inspect].
type Contents struct {
	Segments  []Segment
	Snapshots []uint64 // positions, ascending
	Cut       string   // text of the unit that Open would cut, or of one being written; "": none
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
