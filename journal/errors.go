package journal

import (
	"errors"
	"fmt"
	"io/fs"
)

var (
	// ErrFenced means that the last record is not the one given to Append. Nothing was written.
	ErrFenced = errors.New("journal: append position is not the last")

	// ErrRefused means that a record or a snapshot was not written. The call may be repeated.
	ErrRefused = errors.New("journal: refused")

	// ErrTrimmed means that the records are no longer kept.
	ErrTrimmed = errors.New("journal: the records are trimmed")

	// ErrCorrupt means that acknowledged bytes are lost. The place is in a [CorruptError]; see
	// [Repair].
	ErrCorrupt = errors.New("journal: corrupt")

	// ErrLocked means that another Journal, of any process, uses the folder.
	ErrLocked = errors.New("journal: the folder is open elsewhere")

	// ErrBroken means that a write or a sync failed, that the lock file was removed, or that
	// the Journal is closed. It accepts no more records. The last append may be in the folder
	// or not; Open decides. ErrBroken is also [fs.ErrClosed].
	ErrBroken error = broken{}
)

type broken struct{}

func (broken) Error() string        { return "journal: broken" }
func (broken) Is(target error) bool { return target == fs.ErrClosed }

// A CorruptError is the place of an [ErrCorrupt].
type CorruptError struct {
	File   string // base name
	At     uint64 // position of the first record that may be lost
	Offset int64  // bytes from the start of the file
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%v: %s, record %d, byte %d: %s", ErrCorrupt, e.File, e.At, e.Offset, e.Reason)
}

// Unwrap returns [ErrCorrupt].
func (e *CorruptError) Unwrap() error { return ErrCorrupt }

func refused(err error) error { return fmt.Errorf("%w: %w", ErrRefused, err) }

// errNoSnapshot is also [fs.ErrNotExist], as package world expects.
var errNoSnapshot = fmt.Errorf("journal: no such snapshot: %w", fs.ErrNotExist)
