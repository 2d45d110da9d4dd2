package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"handloom/internal/check"
)

// Copy copies the journal in dir, also while a process has it open, to the folder to, which
// must be empty or missing. The copy has all records acknowledged before the call, with
// snapshots and history, and opens. Copy reads no more than dir's files, twice if Trim removes
// some meanwhile, and syncs the copy.
//
// It fails with [ErrCorrupt] for the same damage as [OpenRead]. After an error the content of to
// is undefined.
//
// A plain copy of an open folder may have a later part of a file and lack an earlier one, or
// lack a file. Open then fails with ErrCorrupt, or Read does in history before the two newest
// snapshots, which Open does not read. No acknowledged record is lost silently.
func Copy(ctx context.Context, dir, to string) error {
	check.Given(ctx != nil, "journal: Copy", "context")
	if err := copyFolder(ctx, readOnlyDir{newFolder(dir)}, newFolder(to)); err != nil {
		return failed("copy", dir, err)
	}
	copied, err := Open(to, Options{})
	if err != nil {
		return err
	}
	return copied.Close()
}

func copyFolder(ctx context.Context, from disk, to *osDir) error {
	if err := os.MkdirAll(to.dir, 0o700); err != nil {
		return err
	}
	names, err := to.list()
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("%s: got files such as %s, want none", to.dir, names[0])
	}
	if err != nil {
		return err
	}
	return untilSteady(from, func() error { return copyOnce(ctx, from, to) })
}

// copyOnce copies the files that to lacks.
func copyOnce(ctx context.Context, from, to disk) error {
	newest := inspectLock(from) // first: another segment may begin meanwhile
	early, err := from.list()
	if err != nil {
		return err
	}
	segments := numbered(early, segmentExt)
	if len(segments) == 0 {
		return cmp.Or(lostAll(early, newest), fmt.Errorf("no segments: %w", fs.ErrNotExist))
	}
	last := segments[len(segments)-1]
	// The first list may have a segment that began meanwhile, and lack one before it.
	names, err := from.list()
	if err != nil {
		return err
	}
	segments = numbered(names, segmentExt)
	if !slices.Contains(segments, last) {
		return fmt.Errorf("%s: %w", fileName(last, segmentExt), fs.ErrNotExist)
	}
	had, err := dropOthers(to, names)
	if err != nil {
		return err
	}
	var end uint64
	for _, first := range segments {
		name := fileName(first, segmentExt)
		switch {
		case first == last:
			end, err = copyLast(from, to, first, newest)
		case first < last:
			err = copyWhole(ctx, from, to, name, slices.Contains(had, name))
		}
		if err != nil {
			return err
		}
	}
	for _, at := range numbered(names, snapshotExt) {
		name := fileName(at, snapshotExt)
		switch {
		case at > end && segments[len(segments)-1] > last:
			continue // it needs records that are not copied
		case at > end:
			return missingRecords(at, end)
		}
		if err := copyWhole(ctx, from, to, name, slices.Contains(had, name)); err != nil {
			return err
		}
	}
	return nil
}

// dropOthers removes the files of to that are not among names, and the newest segment, which
// may be incomplete. It returns the others.
func dropOthers(to disk, names []string) (had []string, err error) {
	all, err := to.list()
	newest := ""
	if segments := numbered(all, segmentExt); len(segments) > 0 {
		newest = fileName(segments[len(segments)-1], segmentExt)
	}
	for _, name := range all {
		if name != newest && slices.Contains(names, name) {
			had = append(had, name)
		} else {
			err = errors.Join(err, to.remove(name))
		}
	}
	return had, err
}

// copyWhole fails if the file is gone, even if to had it: the list may lack its successors.
func copyWhole(ctx context.Context, from, to disk, name string, had bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if had {
		_, _, err := from.stat(name)
		return err
	}
	f, err := from.open(name)
	if err != nil {
		return err
	}
	size, err := f.size()
	if err == nil {
		err = copyFile(to, f, size, name)
	}
	return errors.Join(err, f.Close())
}

// copyLast copies the whole units of a segment that may grow, and returns the position of its
// last record. Zeros follow. newest is named in the lock file.
func copyLast(from, to disk, first, newest uint64) (end uint64, err error) {
	c, err := openCursor(from, first)
	if err != nil {
		return 0, err
	}
	defer c.close()
	t := tailing{disk: from, cursor: c, note: func() {}}
	for atEnd := false; !atEnd; {
		if atEnd, err = t.check(t.drain()); err != nil {
			return 0, err
		}
	}
	if err := lostNewest(c, newest); err != nil {
		return 0, err
	}
	name := fileName(first, segmentExt)
	if err := copyFile(to, c.file, c.offset, name); err != nil {
		return 0, err
	}
	f, err := to.open(name)
	if err != nil {
		return 0, err
	}
	return c.at.seq, errors.Join(writeZeros(f, c.offset, c.size), f.Close())
}
