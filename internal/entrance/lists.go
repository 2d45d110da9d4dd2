package entrance

import "context"

// Lists tells package view whether it has seen all lists of changes of a table.
type Lists interface {
	// TypeIDs returns the first typeId of the table and the number of its shards.
	TypeIDs() (first uint16, n int)

	// Reads reports whether ctx is the context of a Read of the store that has not ended.
	Reads(ctx context.Context) bool

	// Counts returns the counts of the lists of the table, in a Read. Unless part is "", Passes
	// and Gone count for the column or sparse data with that name.
	Counts(part string) Counts
}

// Counts of two Reads differ by the lists between them.
type Counts struct {
	// Frames is the number of frames that replaced Created and Erased of a frame before. A
	// Rollback counts as two, so that a reader who has seen all lists before it misses one.
	Frames uint64

	// Passes is the number of passes and flushes that may have added to Written, and Gone the
	// number of those whose items it no longer has.
	Passes, Gone uint64
}
