package journal

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Open opens the journal in dir, and makes one if there is none. It locks the
// folder until Close, and reads every record behind the last but one snapshot. It
// writes and syncs the last segment once more, and syncs the folder, so that all
// records that it has read are durable when it returns.
//
// A unit at the very end that is not whole is cut: see [Journal.WasCut]. Any other
// damage is [ErrCorrupt], a [CorruptError], and changes nothing; [Repair] moves it
// out of the way. Another Journal on the folder is [ErrLocked].
func Open(dir string, o Options) (*Journal, error) {
	o, err := o.withDefaults(dir)
	if err != nil {
		return nil, err
	}
	lock, err := o.disk.lock()
	if err != nil {
		return nil, err
	}
	j := &Journal{o: o, lock: lock, more: make(chan struct{}), salt: o.salt}
	if err := j.recover(); err != nil {
		if j.last != nil {
			j.last.Close()
		}
		lock.Close()
		return nil, err
	}
	return j, nil
}

// recover finds the end of the records, and cuts there what is not whole.
func (j *Journal) recover() error {
	names, err := j.o.disk.list()
	if err != nil {
		return err
	}
	for _, name := range []string{nextName, saveName} {
		if err := j.o.disk.remove(name); err != nil {
			return err
		}
	}
	j.segments = numbered(names, segmentExt)
	saved := numbered(names, snapshotExt)
	if len(j.segments) == 0 {
		return j.recoverEmpty(saved)
	}
	if err := j.verify(saved); err != nil {
		return err
	}
	return j.recoverAhead(saved)
}

// recoverEmpty begins a journal where there are no records.
func (j *Journal) recoverEmpty(saved []uint64) error {
	if n := len(saved); n > 0 && saved[n-1] > 0 {
		return &CorruptError{File: fileName(saved[n-1], snapshotExt), At: 1, Reason: "a snapshot of records, and there is no file of records"}
	}
	if j.salt == 0 {
		var b [8]byte
		rand.Read(b[:])
		j.salt = binary.LittleEndian.Uint64(b[:])
	}
	return j.beginSegment(segment{salt: j.salt})
}

// beginSegment makes an empty segment the last one.
func (j *Journal) beginSegment(s segment) error {
	a := &ahead{done: make(chan struct{}), size: int64(j.o.SegmentBytes)}
	if a.make(j.o.disk); a.err != nil {
		return a.err
	}
	if err := a.begin(s); err != nil {
		return errors.Join(err, a.file.Close())
	}
	if err := j.enter(s, a); err != nil {
		return err
	}
	j.tail = s.before
	return nil
}

// verify reads the segments that a recovery from either of the two newest
// snapshots reads, and leaves the last one open for the next record. What lies
// before them may have gaps, and there may be older snapshots: files are removed in
// order, but a power failure keeps no order of names.
func (j *Journal) verify(saved []uint64) error {
	var after uint64
	if n := len(saved); n > 0 {
		after = saved[max(0, n-keptSnapshots)]
	}
	k, found := slices.BinarySearch(j.segments, after+1)
	if !found {
		k--
	}
	if k < 0 {
		return &CorruptError{File: fileName(j.segments[0], segmentExt), At: after + 1, Reason: fmt.Sprintf("the first record of all is %d", j.segments[0])}
	}
	for i := k; i < len(j.segments); i++ {
		if err := j.verifySegment(i, i > k); err != nil {
			return err
		}
	}
	return nil
}

// verifySegment reads the segment i, which joins the one before it unless it is
// the first, and moves j.tail to its end.
func (j *Journal) verifySegment(i int, joins bool) error {
	c, err := openCursor(j.o.disk, j.segments[i])
	if err != nil {
		return err
	}
	if joins && (c.salt != j.salt || !c.heals && c.before != j.tail) {
		return errors.Join(&CorruptError{File: c.name(), At: j.tail.seq + 1, Reason: errChain.Error()}, c.close())
	}
	for err == nil {
		_, err = c.next()
	}
	j.salt, j.tail = c.salt, c.at
	if i == len(j.segments)-1 {
		return j.verifyEnd(c, err)
	}
	return errors.Join(c.fault(err), c.close())
}

// fault is the error for what ended a segment: none for its end.
func (c *cursor) fault(err error) error {
	var d damage
	switch {
	case err == errEnd:
		return nil
	case errors.As(err, &d):
		return c.corrupt(d)
	}
	return err
}

// verifyEnd makes the last segment ready for the next record: what was being written
// when the process ended is cut.
func (j *Journal) verifyEnd(c *cursor, end error) error {
	j.last, j.size, j.end = c.file, c.size, c.offset
	torn, err := c.torn(end)
	if err != nil {
		return err
	}
	if torn {
		j.cut = c.cut()
		if err := clearUnits(c.file, c.offset, c.size); err != nil {
			return err
		}
	}
	return j.keepRead(c)
}

// keepRead makes durable what was read, before a record is acknowledged that follows
// it. The process before may have been killed between a write and its sync, or its
// sync failed: the system then reads the bytes back from memory and, on Linux, writes
// them to the disk only if they are written again. Zeros that a process before wrote
// to the end are durable, but for one word: see clearUnits.
func (j *Journal) keepRead(c *cursor) error {
	end := min(c.offset+unitAlign, c.size)
	b := make([]byte, min(aheadPiece, end))
	for offset := int64(0); offset < end; offset += int64(len(b)) {
		b = b[:min(int64(len(b)), end-offset)]
		if err := readFull(c.file, b, offset); err != nil {
			return err
		}
		if _, err := c.file.WriteAt(b, offset); err != nil {
			return err
		}
	}
	if err := c.file.sync(); err != nil {
		return err
	}
	return j.o.disk.sync()
}

// torn decides what the end of the last segment is: a clean one, one that a record
// was being written to (true), or damage. There was at most one unit whose sync had
// not come back, and nothing was written behind it: so a whole unit behind one that
// is not says that the latter was acknowledged.
func (c *cursor) torn(end error) (bool, error) {
	why := c.fault(end)
	if why != nil && !errors.Is(why, ErrCorrupt) {
		return false, why
	}
	rest, err := c.rest()
	if err != nil {
		return false, err
	}
	if allZero(rest) {
		return false, nil
	}
	if c.unitBehind(rest) {
		if why == nil {
			why = c.corrupt(errEnd)
		}
		return false, why
	}
	return true, nil
}

// cut is the unit at the cursor, which is torn.
func (c *cursor) cut() *Cut { return &Cut{File: c.name(), At: c.at.seq + 1, Offset: c.offset} }

// recoverAhead looks whether the newest snapshot is of records that the journal
// does not have. That is so if the last record was damaged after the snapshot was
// made: the snapshot has what it did, and the journal goes on behind it.
func (j *Journal) recoverAhead(saved []uint64) error {
	if len(saved) == 0 || saved[len(saved)-1] <= j.tail.seq {
		return nil
	}
	newest := saved[len(saved)-1]
	if j.cut == nil {
		return &CorruptError{File: fileName(newest, snapshotExt), At: j.tail.seq + 1, Reason: "a snapshot of records that are not there"}
	}
	before := j.last
	j.last = nil
	s := segment{salt: j.salt, before: link{seq: newest, chain: j.tail.chain}, heals: true}
	return errors.Join(j.beginSegment(s), before.Close())
}
