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

// Open opens the journal in dir, or creates it, and locks it until Close. It reads every record
// after the older of the two newest snapshots. All records are durable when it returns, because
// it rewrites and syncs the last segment.
//
// A torn unit at the very end is removed: see [Journal.CutText]. Other damage is
// [ErrCorrupt], in a [CorruptError], and changes nothing; see [Repair]. [ErrLocked] means that
// another Journal uses the folder.
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

func failed(op, dir string, err error) error {
	if errors.Is(err, ErrLocked) || errors.Is(err, ErrCorrupt) {
		return err
	}
	return fmt.Errorf("journal: %s %s: %w", op, dir, err)
}

func (j *Journal) recover() error {
	newest, err := readNewest(j.lock)
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
	if err := j.skipToSnapshot(saved); err != nil {
		return err
	}
	if last := j.segments[len(j.segments)-1]; last != newest {
		return writeNewest(j.lock, last)
	}
	return nil
}

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
	return &CorruptError{File: fileName(max(1, newest), segmentExt), At: at, Reason: "all segments are missing: see " + trace}
}

// c is the last segment left.
func lostNewest(c *cursor, newest uint64) error {
	if newest <= c.first() {
		return nil
	}
	return &CorruptError{File: fileName(newest, segmentExt), At: min(newest, c.at.seq+1), Reason: "the file is missing; " + lockName + " names it"}
}

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

// verify reads the segments needed by the two newest snapshots, and opens the last one for
// appends. Earlier segments may have gaps: a power failure keeps no order of removals. newest
// is named in the lock file.
func (j *Journal) verify(saved []uint64, newest uint64) error {
	k, err := firstNeeded(j.segments, saved)
	if err != nil {
		return err
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

// firstNeeded returns the index of the segment with the first record after the older of the two
// newest snapshots.
func firstNeeded(segments, saved []uint64) (int, error) {
	var after uint64
	if n := len(saved); n > 0 {
		after = saved[max(0, n-keptSnapshots)]
	}
	k, found := slices.BinarySearch(segments, after+1)
	if !found {
		k--
	}
	if k < 0 {
		return 0, &CorruptError{File: fileName(segments[0], segmentExt), At: after + 1, Reason: fmt.Sprintf("the first record is %d", segments[0])}
	}
	return k, nil
}

// verifySegment reads segment i, which must follow before unless that is nil, up to j.tail.
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

func (j *Journal) verifyEnd(c *cursor, end error) error {
	j.last, j.size, j.end = c.file, c.size, c.offset
	var err error
	if j.tornTail, err = c.torn(end); err != nil {
		return err
	}
	if j.tornTail != nil {
		if err := clearUnits(c.file, c.offset, c.size); err != nil {
			return err
		}
	}
	return j.keepRead(c)
}

// keepRead makes all read bytes durable before the next append. If a write was not synced, or
// the sync failed, the system reads the bytes from memory and, on Linux, writes them only after
// another write. Zeros are durable except for one word: see clearUnits.
func (j *Journal) keepRead(c *cursor) error {
	end := min(c.offset+unitAlign, c.size)
	b := make([]byte, min(preallocPiece, end))
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

// torn distinguishes a clean end, a torn unit, and damage. Only the last unit may be unsynced:
// a later unit or a nonzero byte past its end proves that it was acknowledged.
func (c *cursor) torn(end error) (*tornTail, error) {
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
	return c.tornTail(rest, size), nil
}

// tornTail returns the torn unit at the cursor. Its size is 0 if the header is damaged.
func (c *cursor) tornTail(rest []byte, size int64) *tornTail {
	end := len(rest)
	for rest[end-1] == 0 {
		end--
	}
	records := uint64(max(1, (end-unitHeaderSize)/recordHeaderSize))
	if size > 0 {
		payload := rest[unitHeaderSize:][:parseUnitHeader(rest).length]
		if n, err := eachRecord(payload, func([]byte) error { return nil }); err == nil {
			records = n
		}
	}
	return &tornTail{
		File: c.name(), At: c.at.seq + 1, Records: records, Offset: c.offset, End: c.offset + int64(end),
		NonZero: int64(end - bytes.Count(rest[:end], []byte{0})),
	}
}

// missingRecords is the damage of a snapshot after the last record left, at.
func missingRecords(snapshot, at uint64) error {
	return &CorruptError{File: fileName(snapshot, snapshotExt), At: at + 1, Reason: "snapshot of missing records"}
}

// skipToSnapshot continues after a snapshot newer than the last record, which was damaged after
// the save.
func (j *Journal) skipToSnapshot(saved []uint64) error {
	if len(saved) == 0 || saved[len(saved)-1] <= j.tail.seq {
		return nil
	}
	newest := saved[len(saved)-1]
	if j.tornTail == nil {
		return missingRecords(newest, j.tail.seq)
	}
	before := j.last
	j.last = nil
	s := segment{salt: j.salt, before: link{seq: newest, chain: j.tail.chain}, heals: true}
	return errors.Join(j.beginSegment(s), before.Close())
}
