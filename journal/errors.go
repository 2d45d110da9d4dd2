package journal

import (
	"errors"
	"fmt"
	"io/fs"
)

var (
	// ErrFenced says that a record was appended behind another one than the
	// last. Nothing was written.
	ErrFenced = errors.New("journal: the record does not follow the last one")

	// ErrRefused says that a record or a snapshot was not taken, and never will
	// be: it may be offered again.
	ErrRefused = errors.New("journal: refused")

	// ErrTrimmed says that records were asked for that are no longer kept.
	ErrTrimmed = errors.New("journal: the records are trimmed")

	// ErrCorrupt says that what was acknowledged cannot be read back. See
	// [CorruptError] for the place, and [Repair].
	ErrCorrupt = errors.New("journal: corrupt")

	// ErrLocked says that another Journal, of this process or of another, has
	// the folder open.
	ErrLocked = errors.New("journal: the folder is open elsewhere")

	// ErrBroken says that a write or a sync failed, that the lock file was
	// removed, or that the Journal is closed. It takes no further record; what was being appended when it broke
	// may be in the folder or not, and Open tells. It is [fs.ErrClosed], too, for
	// who writes to logs of several kinds.
	ErrBroken error = broken{}
)

// broken is the type of ErrBroken.
type broken struct{}

func (broken) Error() string        { return "journal: broken" }
func (broken) Is(target error) bool { return target == fs.ErrClosed }

// CorruptError says where an [ErrCorrupt] lies.
type CorruptError struct {
	File   string // its name in the folder
	At     uint64 // position of the first record that is lost or in doubt
	Offset int64  // bytes from the beginning of the file
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%v: %s, record %d, byte %d: %s", ErrCorrupt, e.File, e.At, e.Offset, e.Reason)
}

// Unwrap returns [ErrCorrupt].
func (e *CorruptError) Unwrap() error { return ErrCorrupt }

// refused makes an error that is [ErrRefused] and has err's text.
func refused(err error) error { return fmt.Errorf("%w: %w", ErrRefused, err) }

// errNoSnapshot means that no snapshot has this position. It is [fs.ErrNotExist], too,
// as package world asks of a log.
var errNoSnapshot = fmt.Errorf("journal: no snapshot of this record: %w", fs.ErrNotExist)
