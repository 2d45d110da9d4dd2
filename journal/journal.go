package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"handloom/internal/check"
	"handloom/internal/entrance"
)

// A Journal is an open folder of records and snapshots. Any goroutine may call its methods.
type Journal struct {
	o        Options
	lock     file
	tornTail *tornTail

	mu       sync.Mutex
	broken   error         // the error of further appends
	more     chan struct{} // closed after each write, and when the Journal breaks
	segments []uint64      // the first record of each, ascending
	salt     uint64

	last file // the last segment
	size int64
	end  int64 // offset of the next unit
	tail link  // end of the last unit

	prealloc *prealloc // the next segment
	unit     []byte    // the unit being written
	payload  []byte

	// With Every: the collected records.
	waiting  []byte
	waitingN uint64
	timer    *time.Timer
	timerErr error // the last error of onTimer

	saving sync.Mutex // one Save or Trim at a time

	held atomic.Bool // a World writes it

	// Of OpenRead; nil otherwise.
	live   *tailing         // the journal of another process
	places map[uint64]place // by position / placeRecords
	placed uint64           // the first segment with places
}

var errClosed = fmt.Errorf("%w: closed", ErrBroken)

// A tornTail is the last unit, removed by Open: its write did not finish, so no record of it
// was acknowledged, or it was damaged later, which looks the same. Damage may hide units after it,
// too; how many cannot be known.
type tornTail struct {
	File    string
	At      uint64 // position of the first removed record
	Records uint64 // max number of records of the unit
	Offset  int64  // start of the unit, in bytes from the start of the file
	End     int64  // end of the last nonzero byte
	NonZero int64  // number of nonzero bytes between these
}

// CutText describes the unit that Open removed from the end, or is "".
func (j *Journal) CutText() string { return j.tornTail.text() }

func (c *tornTail) text() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("record %d: at most %d cut, damage may hide more: %s, bytes %d to %d, %d not zero", c.At, c.Records, c.File, c.Offset, c.End, c.NonZero)
}

// Entrance is for package world; programs cannot call it.
func (j *Journal) Entrance(entrance.Key) (release func(), ok bool) {
	if j.live != nil {
		return func() {}, true
	}
	return func() { j.held.Store(false) }, j.held.CompareAndSwap(false, true)
}

// ElectionTimeout returns 0, because a lock protects the folder.
func (j *Journal) ElectionTimeout() time.Duration { return 0 }

// Tail returns the position of the last record, or 0 if there is none.
func (j *Journal) Tail(context.Context) (at uint64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.refresh(); err != nil {
		return 0, err
	}
	return j.accepted(), j.broken
}

func (j *Journal) accepted() uint64 { return j.tail.seq + j.waitingN }

// Append adds rec after the last record, which must be at prev, and returns its position. With
// Always rec is durable then. Append does not keep rec.
//
// After ErrFenced and ErrRefused (rec is too large, the disk is full, or ctx ended) rec is not
// in the journal and never will be. After ErrBroken it may be; Open decides.
func (j *Journal) Append(ctx context.Context, prev uint64, rec []byte) (at uint64, err error) {
	check.Given(ctx != nil, "journal: Append", "context")
	if len(rec) > maxRecord {
		return 0, fmt.Errorf("%w: record of %d bytes, want at most %d", ErrRefused, len(rec), maxRecord)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.live != nil:
		return 0, errReadOnly
	case j.broken != nil:
		return 0, j.broken
	case ctx.Err() != nil:
		return 0, refused(context.Cause(ctx))
	case prev != j.accepted():
		return 0, fmt.Errorf("%w: got %d, want %d", ErrFenced, prev, j.accepted())
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

// write writes n records with one write and, unless Sync is Never, one sync.
func (j *Journal) write(payload []byte, n uint64) error {
	if err := j.makeRoom(unitSize(len(payload))); err != nil {
		return err
	}
	j.unit = appendUnit(j.unit[:0], j.salt, j.tail, payload)
	if _, err := j.last.WriteAt(j.unit, j.end); err != nil {
		return j.breakWith(err)
	}
	if j.o.Sync.mode != never {
		if err := j.last.sync(); err != nil {
			return j.breakWith(err)
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

// breakWith breaks the Journal. A failed sync is not repeated: the system may have dropped the
// bytes and would report success.
func (j *Journal) breakWith(err error) error {
	j.broken = fmt.Errorf("%w: %w", ErrBroken, err)
	j.wake()
	return j.broken
}

func (j *Journal) wake() {
	close(j.more)
	j.more = make(chan struct{})
}

// Close writes the collected records and unlocks the folder. Waiting readers get ErrBroken.
func (j *Journal) Close() error {
	j.saving.Lock()
	defer j.saving.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lock == nil && j.live == nil || errors.Is(j.broken, errClosed) {
		return nil
	}
	err := j.syncAll()
	if j.broken == nil {
		j.broken = errClosed
	}
	j.wake()
	if j.live != nil {
		return j.live.close()
	}
	j.dropPrealloc()
	for _, c := range []io.Closer{j.last, j.lock} {
		if e := c.Close(); err == nil {
			err = e
		}
	}
	j.lock = nil
	return err
}

func (j *Journal) syncAll() error {
	if j.broken != nil {
		return j.broken
	}
	if err := j.writeWaiting(); err != nil {
		return err
	}
	if j.o.Sync.mode == never {
		if err := j.last.sync(); err != nil {
			return j.breakWith(err)
		}
	}
	return nil
}
