package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// OpenRead opens the journal in dir for reading, also while a process has it open: it takes no
// lock, and writes and cuts nothing. Read and Tail see new records within 50 ms. Append, Save,
// Trim and Reject fail with an error that is [fs.ErrPermission] and [fs.ErrClosed].
//
// It reads the same records as [Open], and fails with [ErrCorrupt] for the same damage, or with
// [fs.ErrNotExist] if dir has no journal. It also fails with ErrCorrupt if the last record is
// damaged and a snapshot has it: Open begins a segment after that snapshot. A unit being written
// is not seen. On Windows, files that are open for reading cannot be trimmed.
func OpenRead(dir string) (*Journal, error) {
	j, err := openRead(readOnlyDir{newFolder(dir)})
	if err != nil {
		return nil, failed("open", dir, err)
	}
	return j, nil
}

type readOnlyDir struct{ *osDir }

func (d readOnlyDir) open(name string) (file, error) { return d.openFile(name, os.O_RDONLY) }

// pollTime is the time between two looks at a folder that another process writes.
const pollTime = 50 * time.Millisecond

var errReadOnly error = readOnly{}

type readOnly struct{}

func (readOnly) Error() string { return "journal: change: got a journal of OpenRead, want one of Open" }

func (readOnly) Is(target error) bool {
	return target == fs.ErrPermission || target == fs.ErrClosed
}

func openRead(d disk) (j *Journal, err error) {
	err = untilSteady(d, func() (err error) {
		j, err = tryOpenRead(d)
		return err
	})
	return j, err
}

// untilSteady repeats read while it finds damage or misses a file, and files come and go: files
// that begin or are trimmed meanwhile look like damage. The same error twice is real.
func untilSteady(d disk, read func() error) error {
	for last := ""; ; {
		before, err := d.list()
		if err != nil {
			return err
		}
		err = read()
		if !errors.Is(err, ErrCorrupt) && !errors.Is(err, fs.ErrNotExist) || err.Error() == last {
			return err
		}
		if after, e := d.list(); e != nil || slices.Equal(before, after) {
			return errors.Join(err, e)
		}
		last = err.Error()
	}
}

// tryOpenRead reads the segments needed by the two newest snapshots.
func tryOpenRead(d disk) (*Journal, error) {
	newest := inspectLock(d) // first: another segment may begin meanwhile
	names, err := d.list()
	if err != nil {
		return nil, err
	}
	saved, segments := numbered(names, snapshotExt), numbered(names, segmentExt)
	if len(segments) == 0 {
		return nil, cmp.Or(lostAll(names, newest), fmt.Errorf("no segments: %w", fs.ErrNotExist))
	}
	k, err := firstNeeded(segments, saved)
	if err != nil {
		return nil, err
	}
	c, err := openCursor(d, segments[k])
	if err != nil {
		return nil, err
	}
	j := &Journal{o: Options{disk: d}, live: &tailing{disk: d, cursor: c}, places: make(map[uint64]place), more: make(chan struct{})}
	j.live.note = func() { j.note(j.live.cursor) }
	if err = j.refresh(); err == nil {
		err = lostNewest(j.live.cursor, newest)
	}
	if n := len(saved); err == nil && n > 0 && saved[n-1] > j.tail.seq {
		err = missingRecords(saved[n-1], j.tail.seq)
	}
	if err != nil {
		return nil, errors.Join(err, j.live.close())
	}
	return j, nil
}

// refresh reads the units appended since the last refresh. j.mu is held, or j is new.
func (j *Journal) refresh() error {
	if j.live == nil || j.broken != nil {
		return nil
	}
	segments, err := j.live.refresh()
	if err != nil {
		return err
	}
	j.segments, j.tail = segments, j.live.at
	j.dropPlaces()
	return nil
}

// poll returns a channel that ends a wait for another process, or nil.
func (j *Journal) poll() <-chan time.Time {
	if j.live == nil {
		return nil
	}
	return time.After(pollTime)
}

// maxGaps is the number of lists that may lack a segment: a list that is read while files come
// and go may have a later segment without an earlier one, or a trimmed one without its
// successor.
const maxGaps = 3

// A tailing is a cursor at the last unit that another process wrote.
type tailing struct {
	disk disk
	*cursor
	note    func() // notes the place of the cursor
	checked int64  // offset of the last check for damage in this segment; 0: not yet, 1: none needed
	gaps    int    // lists in a row without the next segment
}

// refresh moves to the end, and returns the segments.
func (t *tailing) refresh() (segments []uint64, err error) {
	for {
		// A segment has all its units before the next one has a name.
		names, err := t.disk.list()
		if err != nil {
			return nil, err
		}
		segments = numbered(names, segmentExt)
		end := t.drain()
		i, found := slices.BinarySearch(segments, t.first())
		if found {
			i++
		}
		atEnd := i == len(segments)
		if atEnd {
			atEnd, err = t.check(end)
		} else {
			err = t.follow(segments[i], found, end)
		}
		if atEnd || err != nil {
			return segments, err
		}
	}
}

func (t *tailing) drain() (end error) {
	for end == nil {
		t.note()
		_, end = t.next()
	}
	return end
}

// check reports whether the units end here: a unit that is incomplete now may be complete soon.
func (t *tailing) check(end error) (atEnd bool, err error) {
	var d damage
	if t.checked > 0 && (end == errEnd || errors.As(end, &d) && t.checked == t.offset) {
		return true, nil
	}
	at := t.offset
	if _, err = t.torn(end); err == nil {
		t.checked = at
		return true, nil
	}
	// Two units written between the reads look like damage of the first.
	if t.drain(); t.offset != at && errors.Is(err, ErrCorrupt) {
		return false, nil
	}
	return false, err
}

// follow moves to the next segment. here: the segment was not trimmed.
func (t *tailing) follow(first uint64, here bool, end error) error {
	if here && end != errEnd {
		return t.fault(end)
	}
	c, err := openCursor(t.disk, first)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // trimmed: list again
	}
	if err != nil {
		return err
	}
	isNext := c.heals || c.before.seq == t.at.seq
	if here && !isNext && t.gaps < maxGaps {
		t.gaps++
		return c.close()
	}
	if here || isNext {
		if err := c.joins(t.cursor); err != nil {
			return errors.Join(err, c.close())
		}
	}
	err = t.close()
	t.cursor, t.checked, t.gaps = c, 1, 0
	return err
}
