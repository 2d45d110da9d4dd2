package world

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"
)

// Log is an ordered log with one writer at a time, and a store of snapshots. Positions are 1,
// 2, 3 and so on; 0 is before the first record. Several goroutines call its methods. [Memory]
// and journal.Journal implement it. Package logtest tests an implementation.
type Log interface {
	// Append adds rec if prev is the position of the last record, and returns the position of
	// rec once it is durable. It does not keep rec. After an error the outcome is unknown: the
	// World calls Tail and Read, and repeats the append until it knows. [io/fs.ErrClosed] means
	// that the log is closed for good.
	Append(ctx context.Context, prev uint64, rec []byte) (at uint64, err error)

	// Read calls each with every record after position after, in order. It waits for new
	// records until ctx ends or each fails, and returns that error. rec is valid during the
	// call. Read fails if records are trimmed.
	Read(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error

	// Tail returns the position of the last record.
	Tail(ctx context.Context) (at uint64, err error)

	// ElectionTimeout returns the time without a record after which another World may take
	// over. 0 means that a lock keeps others out; otherwise followers save the snapshots, if
	// there are any.
	ElectionTimeout() time.Duration

	// Save saves the bytes of write as the snapshot after the record at position at, whole or
	// not at all. It may drop snapshots except the newest two. An optional method Reject(ctx,
	// at) error drops a damaged snapshot, which then does not count.
	Save(ctx context.Context, at uint64, write func(w io.Writer) error) error

	// Snapshots returns the positions of the snapshots, newest first.
	Snapshots(ctx context.Context) (at []uint64, err error)

	// Load opens a snapshot. An [io/fs.ErrNotExist] means that it was dropped.
	Load(ctx context.Context, at uint64) (io.ReadCloser, error)

	// Trim may drop records up to position through, where the World has verified a snapshot. It
	// fails unless two snapshots are there or later.
	Trim(ctx context.Context, through uint64) error
}

// A rejecter is a [Log] that can drop damaged snapshots. A World calls Reject before it saves again.
type rejecter interface {
	// Reject drops a snapshot. An [io/fs.ErrNotExist] means that it was dropped before.
	Reject(ctx context.Context, at uint64) error
}

// A Status has the figures of a [Log] with these methods.
type (
	tornLog interface {
		// CutText describes records removed from a torn end, or returns "".
		CutText() string
	}
	sizedLog interface {
		// DiskBytes returns the disk use of records and snapshots.
		DiskBytes() (int64, error)
	}
)

var errEnds = errors.New("end of read")

// recordAfter returns the record after a position, and its own. It waits for the record.
func recordAfter(ctx context.Context, l Log, after uint64) (at uint64, rec []byte, err error) {
	err = l.Read(ctx, after, func(there uint64, b []byte) error {
		at, rec = there, bytes.Clone(b)
		return errEnds
	})
	if errors.Is(err, errEnds) {
		err = nil
	}
	return at, rec, err
}
