package journal

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Options are the settings of a Journal; the zero value syncs every record.
type Options struct {
	// Sync is the time of syncs; default Always.
	Sync Sync

	// SegmentBytes is the size of a segment, at least 1 KiB; default 16 MiB. A larger record
	// gets a segment of its own.
	SegmentBytes int

	// Keep is the number of bytes of history that Trim leaves: trimmed segments, and of the
	// snapshots older than the newest two one per 10 minutes, or per 6 hours once they are 6
	// hours older than the newest, by file time. Every snapshot left has all records after it,
	// so world.Replay reaches back to the oldest. Default 0: none.
	Keep int64

	// Archive receives each segment and each snapshot before Trim removes it, oldest first.
	// In a copy of the folder they extend its history. After an error the file stays, and
	// a later Trim calls Archive again, as it may after a kill, with the same name and bytes.
	// Append does not wait for Archive; Save, Trim and Close do.
	Archive func(ctx context.Context, name string, r io.Reader) error

	// For tests.
	disk       disk
	background func(func())
	salt       uint64
}

// A Sync is the time at which records become durable.
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
	// Always syncs each record before Append returns: one fdatasync per record.
	Always = Sync{}

	// Never leaves it to the system. A kill loses nothing; a power failure may lose records of
	// the last segment, and Open may find the journal corrupt.
	Never = Sync{mode: never}
)

// Every collects the records of d, then writes and syncs them as one unit. A kill or a power
// failure may lose the last d.
func Every(d time.Duration) Sync { return Sync{mode: every, every: d} }

const (
	defaultSegment = 16 << 20
	minSegment     = 1 << 10
	maxRecord      = 64 << 20
)

func (o Options) withDefaults(dir string) (Options, error) {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = defaultSegment
	}
	if o.SegmentBytes < minSegment {
		return o, fmt.Errorf("journal: SegmentBytes is %d, want at least %d, or 0 for %d", o.SegmentBytes, minSegment, defaultSegment)
	}
	if o.Keep < 0 {
		return o, fmt.Errorf("journal: Keep is %d, want at least 0", o.Keep)
	}
	if o.Sync.mode == every && o.Sync.every <= 0 {
		return o, fmt.Errorf("journal: Every(%v), want a positive duration", o.Sync.every)
	}
	if o.disk == nil {
		o.disk = newFolder(dir)
	}
	if o.background == nil {
		o.background = func(f func()) { go f() }
	}
	return o, nil
}
