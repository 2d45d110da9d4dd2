package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// Repair ends the journal in dir before the record at from, for a person who
// decides that what lies behind [CorruptError.At] is given up. It deletes nothing:
// the files behind it, the snapshots of records behind it, and a copy of the file
// it ends in are moved into a folder within dir, whose name it returns. It may be
// called again if it was interrupted.
//
// The folder must not be open: ErrLocked.
func Repair(ctx context.Context, dir string, from uint64) (moved string, err error) {
	return repair(ctx, folder(dir), from)
}

func repair(ctx context.Context, d disk, from uint64) (moved string, err error) {
	lock, err := d.lock()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	names, err := d.list()
	if err != nil {
		return "", err
	}
	segments := numbered(names, segmentExt)
	k, found := slices.BinarySearch(segments, from)
	if !found && k > 0 {
		k--
	}
	if from == 0 || len(segments) == 0 || !found && segments[k] > from {
		return "", fmt.Errorf("journal: there is no record %d to end before", from)
	}
	if moved, err = makeAside(d); err != nil {
		return "", err
	}
	aside := func(name string) error { return d.rename(name, moved+"/"+name) }
	for _, at := range slices.Backward(numbered(names, snapshotExt)) {
		if at >= from {
			err = errors.Join(err, aside(fileName(at, snapshotExt)))
		}
	}
	for _, first := range slices.Backward(segments[k+1:]) {
		err = errors.Join(err, aside(fileName(first, segmentExt)))
	}
	if err != nil {
		return moved, err
	}
	if err := ctx.Err(); err != nil {
		return moved, err
	}
	return moved, errors.Join(endSegment(d, segments[k], from, moved), d.sync())
}

// makeAside makes a folder that there was not.
func makeAside(d disk) (string, error) {
	for n := 1; ; n++ {
		name := fmt.Sprintf("repaired-%d", n)
		if err := d.mkdir(name); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
}

// endSegment copies the segment that begins at first aside, and clears it from
// the record at from on.
func endSegment(d disk, first, from uint64, aside string) error {
	name := fileName(first, segmentExt)
	c, err := openCursor(d, first)
	if errors.Is(err, ErrCorrupt) {
		// Not even its header is whole: nothing of it can stay.
		return d.rename(name, aside+"/"+name)
	}
	if err != nil {
		return err
	}
	defer c.close()
	for err == nil && c.at.seq+1 < from {
		_, err = c.next()
	}
	if err := copyFile(d, c.file, c.size, aside+"/"+name); err != nil {
		return err
	}
	return clearUnits(c.file, c.offset, c.size)
}

// copyFile makes a synced copy of f.
func copyFile(d disk, f file, size int64, name string) error {
	to, err := d.create(name)
	if err != nil {
		return err
	}
	b := make([]byte, aheadPiece)
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
