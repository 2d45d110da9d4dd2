package journal

import (
	"cmp"
	"errors"

	"handloom/internal/entrance"
)

// Entrance is for other packages of this module; programs cannot call it.
func Entrance(entrance.Key) entrance.Folders {
	return entrance.Folders{Inspect: inspectFolder, PlanRepair: planRepair}
}

func inspectFolder(dir string, each func(at uint64, rec []byte) error) (entrance.Contents, error) {
	return inspect(onlyRead{readOnlyDir{newFolder(dir)}}, each)
}

type onlyRead struct{ readOnlyDir }

func (d onlyRead) list() ([]string, error) {
	names, err := d.osDir.list()
	if err != nil {
		err = failed("inspect", d.dir, err)
	}
	return names, err
}

// inspect calls each once for a record, also if it reads the folder again.
func inspect(d disk, each func(at uint64, rec []byte) error) (found entrance.Contents, err error) {
	var done uint64
	var ended error
	once := func(at uint64, rec []byte) error {
		if at > done && ended == nil {
			done, ended = at, each(at, rec)
		}
		return ended
	}
	failed := untilSteady(d, func() error {
		found, err = inspectOnce(d, once)
		if ended != nil {
			return nil
		}
		return cmp.Or(err, found.Damage)
	})
	switch {
	case ended != nil:
		return found, ended
	case errors.Is(failed, ErrCorrupt):
		return found, nil
	}
	return found, failed
}

func inspectOnce(d disk, each func(at uint64, rec []byte) error) (found entrance.Contents, err error) {
	newest := inspectLock(d) // first: another segment may begin meanwhile
	names, err := d.list()
	if err != nil {
		return found, err
	}
	found.Snapshots = numbered(names, snapshotExt)
	segments := numbered(names, segmentExt)
	if len(segments) == 0 {
		found.Damage = lostAll(names, newest)
		return found, nil
	}
	var before *cursor
	for i, first := range segments {
		c, err := openCursor(d, first)
		if err == nil {
			err = inspectSegment(&found, c, before, i == len(segments)-1, newest, each)
			err = errors.Join(err, c.close())
		}
		if errors.Is(err, ErrCorrupt) {
			found.Damage = err
			return found, nil
		}
		if err != nil {
			return found, err
		}
		before = c
	}
	return found, nil
}

// inspectLock returns the segment that the lock file names, or 0 if it is unreadable, as on
// Windows while the folder is open.
func inspectLock(d disk) (newest uint64) {
	f, err := d.open(lockName)
	if err != nil {
		return 0
	}
	defer f.Close()
	newest, _ = readNewest(f)
	return newest
}

func inspectSegment(found *entrance.Contents, c, before *cursor, last bool, newest uint64, each func(at uint64, rec []byte) error) error {
	if err := c.joins(before); err != nil {
		return err
	}
	s := entrance.Segment{File: c.name(), First: c.first(), Bytes: c.have}
	var err error
	for end := c.records(&s, each); ; {
		var cut *tornTail
		cut, err = c.ending(end, last, newest)
		found.TornTail = cut.text()
		if err == nil && cut == nil || err != nil && !errors.Is(err, ErrCorrupt) {
			break
		}
		// Units may be appended between the two reads.
		at := c.at
		if end = c.records(&s, each); c.at == at {
			break
		}
	}
	s.Last, s.Used = c.at.seq, c.offset
	found.Segments = append(found.Segments, s)
	return err
}

func (c *cursor) ending(end error, last bool, newest uint64) (*tornTail, error) {
	if !last {
		return nil, c.fault(end)
	}
	if lost := lostNewest(c, newest); lost != nil {
		return nil, cmp.Or(c.fault(end), lost)
	}
	return c.torn(end)
}

func (c *cursor) records(s *entrance.Segment, each func(at uint64, rec []byte) error) error {
	for {
		at := c.at.seq
		payload, err := c.next()
		if err != nil {
			return err
		}
		s.Units++
		_, err = eachRecord(payload, func(rec []byte) error {
			at++
			return each(at, rec)
		})
		if err != nil {
			return err
		}
	}
}
