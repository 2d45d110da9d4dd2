package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"handloom/internal/check"
)

// Repair ends the journal in dir before record from, usually [CorruptError.At]. It deletes
// nothing: it moves later files and snapshots, and a copy of the last file, to a folder in dir,
// whose name it returns. It may be repeated. [ErrLocked] means that a Journal uses the folder.
func Repair(ctx context.Context, dir string, from uint64) (moved string, err error) {
	check.Given(ctx != nil, "journal: Repair", "context")
	if moved, err = repair(ctx, newFolder(dir), from); err != nil {
		err = failed("repair", dir, err)
	}
	return moved, err
}

func repair(ctx context.Context, d disk, from uint64) (moved string, err error) {
	lock, err := d.lock()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	r, err := newRepairing(d, from)
	if err != nil {
		return "", err
	}
	if r.moved, err = makeAside(d); err != nil {
		return "", err
	}
	if err := r.moveAside(); err != nil {
		return r.moved, err
	}
	if err := ctx.Err(); err != nil {
		return r.moved, err
	}
	return r.moved, r.end(lock)
}

func planRepair(dir string, from uint64) (moved []string, cut string, err error) {
	r, err := newRepairing(readOnlyDir{newFolder(dir)}, from)
	if err != nil {
		return nil, "", failed("repair", dir, err)
	}
	if moved = r.later(); r.last >= 0 {
		cut = fileName(r.segments[r.last], segmentExt)
	}
	return moved, cut, nil
}

func newRepairing(d disk, from uint64) (*repairing, error) {
	names, err := d.list()
	if err != nil {
		return nil, err
	}
	r := &repairing{disk: d, from: from, segments: numbered(names, segmentExt), saved: numbered(names, snapshotExt)}
	return r, r.find()
}

type repairing struct {
	disk     disk
	from     uint64
	segments []uint64 // their first records, ascending
	saved    []uint64
	last     int    // index of the last remaining segment; -1: none
	moved    string // the folder for moved files
}

func (r *repairing) find() error {
	k, found := slices.BinarySearch(r.segments, r.from)
	if !found || k > 0 && r.isDamagedAfter(k-1) {
		k--
	}
	if r.from == 0 || k < 0 && len(r.segments) > 0 {
		return fmt.Errorf("no record %d", r.from)
	}
	if r.last = k; k > 0 || r.from == 1 || slices.Contains(r.saved, r.from-1) {
		return nil
	}
	var err error
	if k == 0 {
		var c *cursor
		if c, err = openCursor(r.disk, r.segments[0]); err == nil {
			return c.close()
		}
	}
	if err == nil || errors.Is(err, ErrCorrupt) {
		err = fmt.Errorf("no record before %d, and no snapshot of record %d", r.from, r.from-1)
	}
	return err
}

// isDamagedAfter reports whether a segment has damage after all its records, which belongs to
// the next segment.
func (r *repairing) isDamagedAfter(k int) bool {
	c, err := openCursor(r.disk, r.segments[k])
	if err != nil {
		return false
	}
	defer c.close()
	for err == nil {
		_, err = c.next()
	}
	return c.at.seq+1 == r.from && !errors.Is(err, errEnd)
}

// later returns the snapshots and segments to move, the newest first.
func (r *repairing) later() (names []string) {
	for _, at := range slices.Backward(r.saved) {
		if at >= r.from {
			names = append(names, fileName(at, snapshotExt))
		}
	}
	for _, first := range slices.Backward(r.segments[r.last+1:]) {
		names = append(names, fileName(first, segmentExt))
	}
	return names
}

func (r *repairing) moveAside() (err error) {
	for _, name := range r.later() {
		err = errors.Join(err, r.move(name))
	}
	return err
}

func (r *repairing) move(name string) error { return r.disk.rename(name, r.moved+"/"+name) }

func (r *repairing) end(lock file) error {
	if r.last >= 0 {
		stays, err := r.endSegment(fileName(r.segments[r.last], segmentExt))
		if err != nil {
			return err
		}
		if !stays {
			r.last--
		}
	}
	newest := r.from
	if r.last >= 0 {
		newest = r.segments[r.last]
	} else if err := r.begin(); err != nil {
		return err
	}
	if err := errors.Join(r.disk.sync(r.moved), r.disk.sync("")); err != nil {
		return err
	}
	return writeNewest(lock, newest)
}

func (r *repairing) begin() error {
	for _, at := range r.saved {
		if at+1 < r.from {
			if err := r.move(fileName(at, snapshotExt)); err != nil {
				return err
			}
		}
	}
	a := &prealloc{done: make(chan struct{}), size: minSegment}
	if a.make(r.disk); a.err != nil {
		return a.err
	}
	s := segment{salt: newSalt(), before: link{seq: r.from - 1}}
	if err := a.begin(s); err != nil {
		return errors.Join(err, a.file.Close())
	}
	if err := a.rename(r.disk, s); err != nil || renameCloses {
		return err
	}
	return a.file.Close()
}

func makeAside(d disk) (string, error) {
	for n := 1; ; n++ {
		name := fmt.Sprintf("repaired-%d", n)
		if err := d.mkdir(name); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
}

// endSegment copies the segment aside and clears it from record r.from on. stays: it has
// records left.
func (r *repairing) endSegment(name string) (stays bool, err error) {
	c, err := openCursor(r.disk, r.segments[r.last])
	if errors.Is(err, ErrCorrupt) {
		// The header is damaged.
		return false, r.move(name)
	}
	if err != nil {
		return false, err
	}
	defer c.close()
	for err == nil && c.at.seq+1 < r.from {
		_, err = c.next()
	}
	if err := copyFile(r.disk, c.file, c.have, r.moved+"/"+name); err != nil {
		return false, err
	}
	// After a power failure either the copy is found or the original is whole.
	if err := errors.Join(r.disk.sync(r.moved), r.disk.sync("")); err != nil {
		return false, err
	}
	return true, clearUnits(c.file, c.offset, c.size)
}

func copyFile(d disk, f file, size int64, name string) error {
	to, err := d.create(name)
	if err != nil {
		return err
	}
	b := make([]byte, preallocPiece)
	for offset := int64(0); offset < size && err == nil; offset += int64(len(b)) {
		b = b[:min(int64(len(b)), size-offset)]
		if err = readFull(f, b, offset); err == nil {
			_, err = to.WriteAt(b, offset)
		}
	}
	if err == nil {
		err = to.sync()
	}
	return errors.Join(err, to.Close())
}
