package journal

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"handloom/internal/check"
)

// A Journal is an open folder of records and snapshots. Its methods may be called
// by any goroutine; records are appended one at a time.
type Journal struct {
	o    Options
	lock file
	cut  *TornTail

	mu       sync.Mutex
	broken   error         // why it takes no more records
	more     chan struct{} // closed when there are more records to read, or none will come
	segments []uint64      // the first record of each, ascending
	salt     uint64

	last file // the last segment
	size int64
	end  int64 // where its next unit goes
	tail link  // behind the last unit written

	prealloc *prealloc // the segment to come, being prepared
	unit     []byte    // the unit being written
	payload  []byte

	// With Every: the records that wait for their unit.
	waiting   []byte
	waitingN  uint64
	timer     *time.Timer
	notWaited error // why the unit could not be written when its time came

	saving sync.Mutex // one Save or Trim at a time
}

// A Cut is the unit that Open took away: its writing did not end, so that no record of
// it was acknowledged, or it was the last of all and was damaged afterwards. The two
// cannot be told apart. A damaged block of zeros hides units that began in it.
type TornTail struct {
	File    string
	At      uint64 // position of the first record that is cut
	Records uint64 // that the bytes have room for, at most
	Offset  int64  // of the unit, in bytes from the beginning of the file
	End     int64  // past the last byte that was not zero, likewise
	NonZero int64  // bytes between these that were not zero
}

// Truncated reports whether Open cut a unit off the end of the journal, and which.
func (j *Journal) Truncated() (TornTail, bool) {
	if j.cut == nil {
		return TornTail{}, false
	}
	return *j.cut, true
}

// CutText returns [Journal.Truncated] as a text, empty if Open cut nothing. It is for
// programs that do not know the type Cut, such as package world.
func (j *Journal) CutText() string { return j.cut.text() }

func (c *TornTail) text() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("record %d: at most %d cut: %s, bytes %d to %d, %d not zero", c.At, c.Records, c.File, c.Offset, c.End, c.NonZero)
}

// ElectionTimeout is 0: the lock of the folder says who may append.
func (j *Journal) ElectionTimeout() time.Duration { return 0 }

// Tail returns the position of the last record, 0 if there is none.
func (j *Journal) Tail(context.Context) (at uint64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.accepted(), j.broken
}

// accepted is the position of the last record that Append took.
func (j *Journal) accepted() uint64 { return j.tail.seq + j.waitingN }

// Append adds rec behind the record at prev, and returns its position. With
// Always it returns when rec is on the disk.
//
// ErrFenced, ErrRefused (the record is too large, the disk is full, or ctx had
// ended before anything was written): rec is not in the journal, and never will
// be. ErrBroken: it may be; Open tells. Append keeps nothing of rec.
func (j *Journal) Append(ctx context.Context, prev uint64, rec []byte) (at uint64, err error) {
	check.Given(ctx != nil, "journal: Append", "context")
	if len(rec) > mostRecord {
		return 0, fmt.Errorf("%w: a record of %d bytes: at most %d", ErrRefused, len(rec), mostRecord)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.broken != nil:
		return 0, j.broken
	case ctx.Err() != nil:
		return 0, refused(context.Cause(ctx))
	case prev != j.accepted():
		return 0, fmt.Errorf("%w: behind record %d, and the last is %d", ErrFenced, prev, j.accepted())
	}
	if j.o.Sync.mode == every {
		return j.collect(rec)
	}
	j.payload = appendRecord(j.payload[:0], rec)
	if err := j.write(j.payload, 1); err != nil {
		return 0, err
	}
	return j.tail.seq, nil
}

// write makes the payload, n records, the next unit: one write and, unless Sync
// is Never, one sync. No other write begins before.
func (j *Journal) write(payload []byte, n uint64) error {
	if err := j.makeRoom(unitSize(len(payload))); err != nil {
		return err
	}
	j.unit = appendUnit(j.unit[:0], j.salt, j.tail, payload)
	if _, err := j.last.WriteAt(j.unit, j.end); err != nil {
		return j.breaks(err)
	}
	if j.o.Sync.mode != never {
		if err := j.last.sync(); err != nil {
			return j.breaks(err)
		}
	}
	j.tail = j.tail.next(n, payload)
	j.end += int64(len(j.unit))
	j.wake()
	if j.end > j.size/2 {
		j.prepare()
	}
	return nil
}

// breaks notes that nothing can be written any more. A sync that failed once is
// not tried again: the system may have dropped the bytes and would report success.
func (j *Journal) breaks(err error) error {
	j.broken = fmt.Errorf("%w: %w", ErrBroken, err)
	j.wake()
	return j.broken
}

// wake lets those who follow look again.
func (j *Journal) wake() {
	close(j.more)
	j.more = make(chan struct{})
}

// Close writes what waits, and gives the folder free. Whoever reads gets
// ErrBroken.
func (j *Journal) Close() error {
	j.saving.Lock()
	defer j.saving.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lock == nil {
		return nil
	}
	err := j.settle()
	if j.broken == nil {
		j.broken = fmt.Errorf("%w: closed", ErrBroken)
	}
	j.wake()
	j.dropPrealloc()
	for _, c := range []io.Closer{j.last, j.lock} {
		if e := c.Close(); err == nil {
			err = e
		}
	}
	j.lock = nil
	return err
}

// settle returns when every record that was taken is on the disk.
func (j *Journal) settle() error {
	if j.broken != nil {
		return j.broken
	}
	if err := j.writeWaiting(); err != nil {
		return err
	}
	if j.o.Sync.mode == never {
		if err := j.last.sync(); err != nil {
			return j.breaks(err)
		}
	}
	return nil
}
