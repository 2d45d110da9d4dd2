package world

import (
	"context"
	"io"
	"time"
)

// Log is an ordered log with one writer at a time, and a store of snapshots. Positions are 1,
// 2, 3 and so on; 0 is before the first record. [Memory] and journal.Journal implement it.
// Package logtest tests an implementation.
//
// Methods are called by several goroutines.
type Log interface {
	// Append adds rec if prev is the position of the last record. It returns the position of
	// rec once rec is durable. It does not keep rec. After an error the outcome is unknown: the
	// World calls Tail and Read, and appends the same bytes after the same record until it
	// knows. An [io/fs.ErrClosed] means that the log is closed for good.
	Append(ctx context.Context, prev uint64, rec []byte) (at uint64, err error)

	// Read calls each with every record after position after, in order. It waits for new
	// records until ctx ends or each fails, and returns that error. rec is valid during the
	// call. Read fails if records after that position are trimmed.
	Read(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error

	// Tail returns the position of the last record.
	Tail(ctx context.Context) (at uint64, err error)

	// ElectionTimeout returns the time without a record after which another World may take
	// over. 0 means that a lock keeps others out; otherwise followers save the snapshots, or
	// the leader if they do not.
	ElectionTimeout() time.Duration

	// Save saves the bytes of write as the snapshot after the record at position at, whole or
	// not at all. It may drop snapshots except the newest two. A Log may also have a method
	// Reject(ctx, at) error: it drops a damaged snapshot, which then does not count.
	Save(ctx context.Context, at uint64, write func(w io.Writer) error) error

	// Snapshots returns the positions of the snapshots, newest first.
	Snapshots(ctx context.Context) (at []uint64, err error)

	// Load opens a snapshot. An [io/fs.ErrNotExist] means that it was dropped.
	Load(ctx context.Context, at uint64) (io.ReadCloser, error)

	// Trim may drop records up to position through. It fails unless two snapshots are at that
	// position or later. The World has verified the snapshot at that position.
	Trim(ctx context.Context, through uint64) error
}

// A rejecter is a [Log] whose saved snapshots may be damaged later. A World rejects each
// damaged snapshot before it saves another.
type rejecter interface {
	// Reject drops the snapshot at this position; Save and Snapshots no longer count it. An
	// [io/fs.ErrNotExist] means that it was dropped before.
	Reject(ctx context.Context, at uint64) error
}

// A tornLog is a [Log] that may find a torn end when it is opened, such as a journal.
type tornLog interface {
	// CutText describes the removed records, or returns "".
	CutText() string
}
