package journal

import (
	"bytes"
	"cmp"
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
// A unit at the very end that is not whole is cut: see [Journal.Truncated]. Any other
// damage is [ErrCorrupt], a [CorruptError], and changes nothing; [Repair] moves it
// out of the way. Another Journal on the folder is [ErrLocked].
func Open(dir string, o Options) (*Journal, error) {
	o, err := o.withDefaults(dir)
	if err != nil {
		return nil, err
	}
	lock, err := o.disk.lock()
	if err != nil {
		return nil, failed("open", dir, err)
	}
	j := &Journal{o: o, lock: lock, more: make(chan struct{}), salt: o.salt}
	if err := j.recover(); err != nil {
		if j.last != nil {
			j.last.Close()
		}
		lock.Close()
		return nil, failed("open", dir, err)
	}
	return j, nil
}

// failed adds to an error of the system the name of the package and of the folder.
func failed(op, dir string, err error) error {
	if errors.Is(err, ErrLocked) || errors.Is(err, ErrCorrupt) {
		return err
	}
	return fmt.Errorf("journal: %s %s: %w", op, dir, err)
}

// recover finds the end of the records, and cuts there what is not whole.
func (j *Journal) recover() error {
	newest, err := newestNoted(j.lock)
	if err != nil {
		return err
	}
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
	if len(j.segments) == 0 {
		if err := lostAll(names, newest); err != nil {
			return err
		}
		return j.recoverEmpty()
	}
	saved := numbered(names, snapshotExt)
	if err := j.verify(saved, newest); err != nil {
		return err
	}
	if err := j.recoverPrealloc(saved); err != nil {
		return err
	}
	if last := j.segments[len(j.segments)-1]; last != newest {
		return noteNewest(j.lock, last)
	}
	return nil
}

// lostAll returns the damage of a folder that has no segment and traces of one.
func lostAll(names []string, newest uint64) error {
	trace, at := "", uint64(1)
	for _, ext := range []string{rejectedExt, snapshotExt} {
		if saved := numbered(names, ext); len(saved) > 0 {
			trace, at = fileName(saved[len(saved)-1], ext), saved[len(saved)-1]+1
		}
	}
	if trace == "" && newest > 0 {
		trace = lockName
	}
	if trace == "" {
		return nil
	}
	return &CorruptError{File: fileName(max(1, newest), segmentExt), At: at, Reason: "the file is missing, as all of records, and there were some: see " + trace}
}

// lostNewest returns the damage of a folder whose last segment, that of c, is not the
// newest one that the lock file names.
func lostNewest(c *cursor, newest uint64) error {
	if newest <= c.first() {
		return nil
	}
	return &CorruptError{File: fileName(newest, segmentExt), At: min(newest, c.at.seq+1), Reason: "the file is missing: the file " + lockName + " names it"}
}

// recoverEmpty begins a journal where there are no records.
func (j *Journal) recoverEmpty() error {
	if j.salt == 0 {
		j.salt = newSalt()
	}
	return j.beginSegment(segment{salt: j.salt})
}

func newSalt() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// beginSegment makes an empty segment the last one.
func (j *Journal) beginSegment(s segment) error {
	a := &prealloc{done: make(chan struct{}), size: int64(j.o.SegmentBytes)}
	if a.make(j.o.disk); a.err != nil {
		return a.err
	}
	if err := a.begin(s); err != nil {
		return errors.Join(err, a.file.Close())
	}
	if err := a.rename(j.o.disk, s); err != nil {
		return err
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
//
// newest is the segment that the lock file names as the newest.
func (j *Journal) verify(saved []uint64, newest uint64) error {
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
	var before *cursor
	for i := k; i < len(j.segments); i++ {
		c, err := j.verifySegment(i, before, newest)
		if err != nil {
			return err
		}
		before = c
	}
	return nil
}

// verifySegment reads the segment i, which joins the one of before unless that is nil,
// and moves j.tail to its end.
func (j *Journal) verifySegment(i int, before *cursor, newest uint64) (*cursor, error) {
	c, err := openCursor(j.o.disk, j.segments[i])
	if err != nil {
		return nil, err
	}
	if err := c.joins(before); err != nil {
		return nil, errors.Join(err, c.close())
	}
	for err == nil {
		_, err = c.next()
	}
	j.salt, j.tail = c.salt, c.at
	if i < len(j.segments)-1 {
		return c, errors.Join(c.fault(err), c.close())
	}
	if lost := lostNewest(c, newest); lost != nil {
		return nil, errors.Join(cmp.Or(c.fault(err), lost), c.close())
	}
	return c, j.verifyEnd(c, err)
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
	var err error
	if j.cut, err = c.torn(end); err != nil {
		return err
	}
	if j.cut != nil {
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
	return j.o.disk.sync("")
}

// torn decides between the three ends of the last segment: a clean one, one that a
// unit was being written to, which is to be cut, and damage. There was at most one
// unit whose sync had not come back, and nothing was written past it: so a later unit,
// or any byte past the end of this one, means that this one was acknowledged.
func (c *cursor) torn(end error) (*TornTail, error) {
	why := c.fault(end)
	if why != nil && !errors.Is(why, ErrCorrupt) {
		return nil, why
	}
	if c.have < c.size {
		return nil, c.corrupt(c.short())
	}
	rest, err := c.rest()
	if err != nil {
		return nil, err
	}
	if allZero(rest) {
		return nil, nil
	}
	size := c.unitAt(rest)
	if c.hasLaterUnit(rest) || size > 0 && !allZero(rest[size:]) {
		if why == nil {
			why = c.corrupt(errEnd)
		}
		return nil, why
	}
	return c.cut(rest, size), nil
}

// cut is the unit that begins at the cursor, and rest with it, and is torn. Its size is
// 0 if its header does not tell.
func (c *cursor) cut(rest []byte, size int64) *TornTail {
	end := len(rest)
	for rest[end-1] == 0 {
		end--
	}
	records := uint64(max(1, (end-unitHead)/recordHead))
	if size > 0 {
		payload := rest[unitHead:][:parseUnitHeader(rest).length]
		if n, err := eachRecord(payload, func([]byte) error { return nil }); err == nil {
			records = n
		}
	}
	return &TornTail{
		File: c.name(), At: c.at.seq + 1, Records: records, Offset: c.offset, End: c.offset + int64(end),
		NonZero: int64(end - bytes.Count(rest[:end], []byte{0})),
	}
}

// recoverPrealloc looks whether the newest snapshot is of records that the journal
// does not have. That is so if the last record was damaged after the snapshot was
// made: the snapshot has what it did, and the journal goes on behind it.
func (j *Journal) recoverPrealloc(saved []uint64) error {
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
