package journal

import (
	"fmt"
	"time"
)

// Options of a Journal. The zero value is a journal that syncs every record.
type Options struct {
	// Sync says when records reach the disk. The zero value is Always.
	Sync Sync

	// SegmentBytes is the size of a file of records. 0 is 16 MiB; at least 1
	// KiB. A record that is larger gets a file of its own.
	SegmentBytes int

	// For tests: where the files are, and how work beside the caller is started.
	disk       disk
	background func(func())
	salt       uint64
}

// A Sync says when records reach the disk.
type Sync struct {
	mode  syncMode
	every time.Duration
}

type syncMode uint8

const (
	always syncMode = iota
	never
	every
)

var (
	// Always syncs each record before Append returns: one fdatasync a record.
	Always = Sync{}

	// Never leaves it to the operating system. A killed process loses nothing;
	// a power failure may lose any record since the last segment was begun, and
	// may leave a journal that Open finds corrupt.
	Never = Sync{mode: never}
)

// Every collects the records of d and writes and syncs them as one. What dies
// with the process, or with the power, is what was appended in the last d.
func Every(d time.Duration) Sync { return Sync{mode: every, every: d} }

const (
	defaultSegment = 16 << 20
	leastSegment   = 1 << 10
	mostRecord     = 64 << 20
)

// withDefaults returns o with every default filled in.
func (o Options) withDefaults(dir string) (Options, error) {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = defaultSegment
	}
	if o.SegmentBytes < leastSegment {
		return o, fmt.Errorf("journal: SegmentBytes is %d: at least %d, or 0 for %d", o.SegmentBytes, leastSegment, defaultSegment)
	}
	if o.Sync.mode == every && o.Sync.every <= 0 {
		return o, fmt.Errorf("journal: Every(%v): a positive duration", o.Sync.every)
	}
	if o.disk == nil {
		o.disk = newFolder(dir)
	}
	if o.background == nil {
		o.background = func(f func()) { go f() }
	}
	return o, nil
}
