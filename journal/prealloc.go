package journal

import (
	"bytes"
	"errors"
)

// A prealloc becomes the next segment. It is written in the background: a growing file costs
// each record a second sync, and all zeros at once take 100 ms.
type prealloc struct {
	done chan struct{} // closed when the following fields are set
	file file
	size int64
	err  error
}

// preallocPiece is the number of bytes between two syncs, which delay records on some disks.
const preallocPiece = 1 << 20

func (j *Journal) prepare() {
	if j.prealloc != nil {
		return
	}
	a := &prealloc{done: make(chan struct{}), size: int64(j.o.SegmentBytes)}
	j.prealloc = a
	j.o.background(func() { a.make(j.o.disk) })
}

func (a *prealloc) make(d disk) {
	defer close(a.done)
	f, err := d.create(nextName)
	if err != nil {
		a.err = err
		return
	}
	if err := writeZeros(f, 0, a.size); err != nil {
		a.err = errors.Join(err, f.Close())
		return
	}
	a.file = f
}

func writeZeros(f file, offset, end int64) error {
	piece := make([]byte, min(preallocPiece, max(end-offset, 0)))
	for offset < end {
		n, err := f.WriteAt(piece[:min(int64(len(piece)), end-offset)], offset)
		if err != nil {
			return err
		}
		if err := f.sync(); err != nil {
			return err
		}
		offset += int64(n)
	}
	return nil
}

// clearUnits clears f from offset to end. It clears the first word last: until then a failed
// sync leaves no end that looks clean while units follow.
func clearUnits(f file, offset, end int64) error {
	mark := bytes.Repeat([]byte{0xff}, int(min(unitAlign, end-offset)))
	if _, err := f.WriteAt(mark, offset); err != nil {
		return err
	}
	if err := f.sync(); err != nil {
		return err
	}
	if err := writeZeros(f, offset+int64(len(mark)), end); err != nil {
		return err
	}
	return writeZeros(f, offset, offset+int64(len(mark)))
}

// makeRoom ensures that a unit of size bytes fits into the last segment, or begins a new one.
// After ErrRefused (no space or descriptor) nothing has changed. After ErrBroken a write or
// sync failed, or the lock is lost.
func (j *Journal) makeRoom(size int64) error {
	if j.end+size <= j.size {
		return nil
	}
	switch err := j.o.disk.held(); {
	case errors.Is(err, errLockLost):
		return j.breakWith(err)
	case err != nil:
		return refused(err)
	}
	a, err := j.usePrealloc(segmentHeaderSize + size)
	if err != nil {
		return refused(err)
	}
	s := segment{salt: j.salt, before: j.tail}
	if err := a.begin(s); err != nil {
		return refused(errors.Join(err, a.file.Close()))
	}
	if j.o.Sync.mode == never {
		if err := j.last.sync(); err != nil {
			return j.breakWith(errors.Join(err, a.file.Close()))
		}
	}
	if err := a.rename(j.o.disk, s); err != nil {
		return refused(err)
	}
	// From here on a failure may leave two last segments.
	if err := j.enter(s, a); err != nil {
		return j.breakWith(err)
	}
	return nil
}

func (j *Journal) usePrealloc(least int64) (*prealloc, error) {
	j.prepare()
	a := j.prealloc
	<-a.done
	j.prealloc = nil
	if a.err == nil && a.size >= least {
		return a, nil
	}
	if a.file != nil {
		a.file.Close()
	}
	a = &prealloc{done: make(chan struct{}), size: max(least, int64(j.o.SegmentBytes))}
	a.make(j.o.disk)
	return a, a.err
}

func (j *Journal) dropPrealloc() {
	if j.prealloc == nil {
		return
	}
	<-j.prealloc.done
	if j.prealloc.file != nil {
		j.prealloc.file.Close()
		_ = j.o.disk.remove(nextName)
	}
	j.prealloc = nil
}

func (a *prealloc) begin(s segment) error {
	s.size = a.size
	if _, err := a.file.WriteAt(s.header(), 0); err != nil {
		return err
	}
	return a.file.sync()
}

// rename gives the file its name. Except on Windows it stays open, to need no other descriptor.
func (a *prealloc) rename(d disk, s segment) error {
	if renameCloses {
		if err := a.file.Close(); err != nil {
			return err
		}
	}
	if err := d.rename(nextName, s.name()); err != nil {
		return errors.Join(err, a.file.Close())
	}
	return nil
}

func (j *Journal) enter(s segment, a *prealloc) error {
	f := a.file
	if renameCloses {
		var err error
		if f, err = j.o.disk.open(s.name()); err != nil {
			return err
		}
	}
	err := j.o.disk.sync("")
	if err == nil {
		err = writeNewest(j.lock, s.first())
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if j.last != nil {
		err = j.last.Close()
	}
	j.last, j.size, j.end = f, a.size, segmentHeaderSize
	j.segments = append(j.segments, s.first())
	return err
}
