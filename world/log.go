package world

import (
	"context"
	"io"
	"time"
)

// Log is an ordered log with one writer at a time, and a place for snapshots. Positions
// are 1, 2, 3 and so on; 0 is before the first record. [Memory] is one, and a Journal of
// package journal, which knows nothing of this package, is another. Package logtest tests
// others.
//
// Its methods are called by several goroutines.
type Log interface {
	// Append adds rec if prev is the position of the last record, and returns its
	// position when it is durable. It keeps nothing of rec. With any error it is open
	// whether rec is in the log: the World asks Tail and Read, and appends the same
	// bytes behind the same record until it knows. An error that is [io/fs.ErrClosed]
	// says that the log takes nothing more, for good.
	Append(ctx context.Context, prev uint64, rec []byte) (at uint64, err error)

	// Read calls each with every record behind after, in order, and goes on with
	// those that are appended, until ctx ends or each fails: it returns that error.
	// rec is good during the call. When records behind after are no longer kept it
	// fails.
	Read(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error

	// Tail returns the position of the last record.
	Tail(ctx context.Context) (at uint64, err error)

	// ElectionTimeout is how long there must have been no record before another World may
	// own the log. 0: a lock keeps others out. Where none does, followers save snapshots,
	// and the owner if they do not.
	ElectionTimeout() time.Duration

	// Save keeps what write writes as the snapshot of the state behind the record at
	// this position, whole or not at all. It may give up older ones but the newest
	// two. A Log may also have a method Reject(ctx, at) error, which gives up one that
	// was found damaged, so that it is not one of the two.
	Save(ctx context.Context, at uint64, write func(w io.Writer) error) error

	// Snapshots returns the positions of the snapshots, newest first.
	Snapshots(ctx context.Context) (at []uint64, err error)

	// Load opens a snapshot. An error that is [io/fs.ErrNotExist] says that it was
	// given up.
	Load(ctx context.Context, at uint64) (io.ReadCloser, error)

	// Trim lets the log forget records at or before through. It fails unless two
	// snapshots are of that position or later ones. A World has read the snapshot of that
	// position before.
	Trim(ctx context.Context, through uint64) error
}

// rejecter is a [Log] whose snapshots may be damaged after they were saved. A World calls
// Reject for each that it has found damaged, before it saves another.
type rejecter interface {
	// Reject has the log give up the snapshot at this position: it is in Snapshots no more,
	// and is not one of the two that Save keeps. An error that is [io/fs.ErrNotExist]
	// says that it was given up before.
	Reject(ctx context.Context, at uint64) error
}

// A cutter is a [Log] whose end may have been torn when it was opened, as the end of a
// journal. Status shows the text.
type cutter interface {
	// CutText returns the records that were removed, or "".
	CutText() string
}
