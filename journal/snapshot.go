package journal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"handloom/internal/check"
)

// keptSnapshots includes an older one, in case the newest is unreadable.
const keptSnapshots = 2

// Save saves the bytes of write as the snapshot after record at, which is durable when Save
// returns. It removes snapshots except the newest two, unless Options.Keep or Options.Archive
// is set: then Trim does. Append may run meanwhile. After an error Save may be called again.
func (j *Journal) Save(ctx context.Context, at uint64, write func(w io.Writer) error) error {
	check.Given(ctx != nil, "journal: Save", "context")
	check.Given(write != nil, "journal: Save", "function")
	j.saving.Lock()
	defer j.saving.Unlock()
	if err := j.mayBeSaved(ctx, at); err != nil {
		return err
	}
	if err := j.writeSnapshot(ctx, write); err != nil {
		return refused(errors.Join(err, j.o.disk.remove(saveName)))
	}
	if err := j.o.disk.rename(saveName, fileName(at, snapshotExt)); err != nil {
		return refused(err)
	}
	if err := j.o.disk.sync(""); err != nil {
		return refused(err)
	}
	if err := j.dropSnapshots(ctx); err != nil {
		return refused(err)
	}
	return nil
}

// mayBeSaved waits until the records up to at are durable: a snapshot must not be ahead of its
// journal.
func (j *Journal) mayBeSaved(ctx context.Context, at uint64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.live != nil:
		return errReadOnly
	case j.broken != nil:
		return j.broken
	case ctx.Err() != nil:
		return refused(context.Cause(ctx))
	case at > j.accepted():
		return fmt.Errorf("%w: snapshot of record %d, but the last is %d", ErrRefused, at, j.accepted())
	}
	return j.syncAll()
}

// writeSnapshot syncs a snapshot in pieces, so that an append waits for one piece at most.
func (j *Journal) writeSnapshot(ctx context.Context, write func(w io.Writer) error) error {
	f, err := j.o.disk.create(saveName)
	if err != nil {
		return err
	}
	pieces := bufio.NewWriterSize(&fileWriter{ctx: ctx, file: f}, snapshotPiece)
	err = write(pieces)
	if err == nil {
		err = pieces.Flush()
	}
	if err == nil {
		err = f.sync()
	}
	return errors.Join(err, f.Close())
}

const snapshotPiece = 1 << 20

type fileWriter struct {
	ctx    context.Context
	file   file
	offset int64
	synced int64
}

func (w *fileWriter) Write(b []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	n, err := w.file.WriteAt(b, w.offset)
	w.offset += int64(n)
	if err == nil && w.offset-w.synced >= 8*snapshotPiece {
		w.synced = w.offset
		err = w.file.sync()
	}
	return n, err
}

// dropSnapshots removes snapshots except the newest two, if Trim keeps and archives none.
func (j *Journal) dropSnapshots(ctx context.Context) error {
	if j.o.Keep > 0 || j.o.Archive != nil {
		return nil
	}
	saved, err := j.Snapshots(ctx)
	if err != nil || len(saved) < keptSnapshots {
		return err
	}
	for _, at := range slices.Backward(saved[keptSnapshots:]) {
		if err := j.o.disk.remove(fileName(at, snapshotExt)); err != nil {
			return err
		}
	}
	return j.dropRejected(saved[keptSnapshots-1])
}

// Reject renames a damaged snapshot to .bad. Save, Trim and [Journal.Snapshots] no longer count
// it. A later Save removes the file.
func (j *Journal) Reject(ctx context.Context, at uint64) error {
	check.Given(ctx != nil, "journal: Reject", "context")
	j.saving.Lock()
	defer j.saving.Unlock()
	if err := j.mayChange(ctx); err != nil {
		return err
	}
	err := j.o.disk.rename(fileName(at, snapshotExt), fileName(at, rejectedExt))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %d", errNoSnapshot, at)
	}
	if err == nil {
		err = j.o.disk.sync("")
	}
	if err != nil {
		return refused(err)
	}
	return nil
}

func (j *Journal) mayChange(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.live != nil:
		return errReadOnly
	case j.broken == nil && ctx.Err() != nil:
		return refused(context.Cause(ctx))
	}
	return j.broken
}

// Snapshots returns the positions of the snapshots, newest first.
func (j *Journal) Snapshots(context.Context) (at []uint64, err error) {
	names, err := j.o.disk.list()
	if err != nil {
		return nil, err
	}
	saved := numbered(names, snapshotExt)
	slices.Reverse(saved)
	return saved, nil
}

// Load opens the snapshot at this position.
func (j *Journal) Load(_ context.Context, at uint64) (io.ReadCloser, error) {
	f, err := j.o.disk.open(fileName(at, snapshotExt))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %d", errNoSnapshot, at)
	}
	if err != nil {
		return nil, err
	}
	size, err := f.size()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return snapshotReader{io.NewSectionReader(f, 0, size), f}, nil
}

// A snapshotReader has Size, which limits allocations by damaged lengths.
type snapshotReader struct {
	*io.SectionReader
	io.Closer
}

// Trim removes files with only records up to through, and snapshots older than the newest two,
// except those that [Options.Keep] has room for. It returns ErrRefused unless two snapshots are
// at or after through, because one could be damaged, and if [Options.Archive] fails, whose file
// then stays. It may be repeated.
func (j *Journal) Trim(ctx context.Context, through uint64) error {
	check.Given(ctx != nil, "journal: Trim", "context")
	j.saving.Lock()
	defer j.saving.Unlock()
	if err := j.mayChange(ctx); err != nil {
		return err
	}
	saved, err := j.Snapshots(ctx)
	if err != nil {
		return err
	}
	if len(saved) < keptSnapshots || saved[keptSnapshots-1] < through {
		return fmt.Errorf("%w: trim through record %d with snapshots %d", ErrRefused, through, saved)
	}
	if err := j.dropHistory(ctx, saved, through); err != nil {
		return refused(err)
	}
	return nil
}
