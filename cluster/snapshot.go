package cluster

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A snapshot is two blobs: its bytes, and, once they were read back, their SHA-256. One
// without the other does not count.
const (
	snapshotExt = ".snap"
	sumExt      = ".sum"

	keptSnapshots = 2

	// blobTime is how long blobs may be away before that is an error.
	blobTime = 15 * time.Second
)

func (l *Log) blob(at uint64, ext string) string {
	return fmt.Sprintf("%v-%016x%s", l.cell, at, ext)
}

// Save keeps what write writes as the snapshot of the state behind the record at, reads it
// back, and removes all but the two newest.
func (l *Log) Save(ctx context.Context, at uint64, write func(w io.Writer) error) error {
	ctx, cancel := l.untilClosed(ctx)
	defer cancel()
	sum, err := l.put(ctx, at, write)
	if err == nil {
		err = l.readBack(ctx, at, sum)
	}
	if err == nil {
		err = l.blobs.Put(ctx, l.blob(at, sumExt), bytes.NewReader(sum))
	}
	if err != nil {
		return l.told(ctx, fmt.Errorf("cluster: snapshot of record %d: %w", at, err))
	}
	l.noteVerified(at)
	return l.removeOld(ctx)
}

// put writes the snapshot and returns the sum of what was written.
func (l *Log) put(ctx context.Context, at uint64, write func(w io.Writer) error) (sum []byte, err error) {
	pr, pw := io.Pipe()
	h := sha256.New()
	written := make(chan struct{})
	go func() {
		defer close(written)
		pw.CloseWithError(write(io.MultiWriter(pw, h)))
	}()
	err = l.blobs.Put(ctx, l.blob(at, snapshotExt), pr)
	pr.CloseWithError(cmp.Or(err, io.ErrClosedPipe))
	<-written
	return h.Sum(nil), err
}

// readBack fails unless the snapshot has this sum.
func (l *Log) readBack(ctx context.Context, at uint64, sum []byte) error {
	r, err := l.blobs.Get(ctx, l.blob(at, snapshotExt))
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.Copy(h, r)
	err = errors.Join(err, r.Close())
	if err == nil && !bytes.Equal(h.Sum(nil), sum) {
		err = fmt.Errorf("%w: it is read back as something else", ErrCorrupt)
	}
	return err
}

// verify reads a snapshot back, once, that this node or another one has saved.
func (l *Log) verify(ctx context.Context, at uint64) error {
	if l.isVerified(at) {
		return nil
	}
	r, err := l.blobs.Get(ctx, l.blob(at, sumExt))
	if err != nil {
		return err
	}
	sum, err := io.ReadAll(io.LimitReader(r, 2*sha256.Size))
	if err = errors.Join(err, r.Close()); err == nil {
		err = l.readBack(ctx, at, sum)
	}
	if err == nil {
		l.noteVerified(at)
	}
	return err
}

func (l *Log) isVerified(at uint64) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return slices.Contains(l.verified, at)
}

func (l *Log) noteVerified(at uint64) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.verified = append(l.verified[max(0, len(l.verified)-keptSnapshots):], at)
}

// removeOld removes all snapshots but the two newest.
func (l *Log) removeOld(ctx context.Context) error {
	saved, err := l.Saved(ctx)
	if err != nil || len(saved) <= keptSnapshots {
		return err
	}
	for _, at := range saved[keptSnapshots:] {
		// One that was removed halfway does not count.
		if err := errors.Join(l.blobs.Delete(ctx, l.blob(at, sumExt)), l.blobs.Delete(ctx, l.blob(at, snapshotExt))); err != nil {
			return fmt.Errorf("cluster: snapshot of record %d, which is not needed any more: %w", at, err)
		}
	}
	return nil
}

// Saved returns the positions of the snapshots, newest first.
func (l *Log) Saved(ctx context.Context) (at []uint64, err error) {
	ctx, cancel := l.untilClosed(ctx)
	defer cancel()
	var names []string
	err = l.reach(ctx, func(ctx context.Context) (err error) {
		names, err = l.blobs.List(ctx)
		return err
	})
	if err != nil {
		return nil, l.told(ctx, fmt.Errorf("cluster: snapshots: %w", err))
	}
	for _, name := range names {
		hex, isSum := strings.CutSuffix(strings.TrimPrefix(name, l.cell.String()+"-"), sumExt)
		n, err := strconv.ParseUint(hex, 16, 64)
		if isSum && err == nil && l.blob(n, sumExt) == name && slices.Contains(names, l.blob(n, snapshotExt)) {
			at = append(at, n)
		}
	}
	slices.SortFunc(at, func(a, b uint64) int { return cmp.Compare(b, a) })
	return at, nil
}

// Load opens a snapshot.
func (l *Log) Load(ctx context.Context, at uint64) (r io.ReadCloser, err error) {
	err = l.reach(ctx, func(context.Context) (err error) {
		r, err = l.blobs.Get(ctx, l.blob(at, snapshotExt))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cluster: snapshot of record %d: %w", at, err)
	}
	return r, nil
}

// reach tries again while the blobs are away.
func (l *Log) reach(ctx context.Context, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, blobTime)
	defer cancel()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return patiently(ctx, func(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrClosed) }, f)
}

var errNotEnough = errors.New("two snapshots must be kept at or behind it")

// Trim lets the stream forget records at or before through, if two snapshots at or behind
// that can be read back. The last record is kept.
func (l *Log) Trim(ctx context.Context, through uint64) error {
	ctx, cancel := l.untilClosed(ctx)
	defer cancel()
	if err := l.trim(ctx, through); err != nil {
		return l.told(ctx, fmt.Errorf("cluster: trim through record %d: %w", through, err))
	}
	return nil
}

func (l *Log) trim(ctx context.Context, through uint64) error {
	saved, err := l.Saved(ctx)
	if err != nil {
		return err
	}
	if len(saved) < keptSnapshots || saved[keptSnapshots-1] < through {
		return errNotEnough
	}
	for _, at := range saved[:keptSnapshots] {
		if err := l.verify(ctx, at); err != nil {
			return fmt.Errorf("snapshot of record %d: %w", at, err)
		}
	}
	_, end, err := l.ends(ctx)
	if err != nil {
		return err
	}
	through = min(through, end.at-min(end.at, 1))
	seq, _, _, err := l.find(ctx, through)
	if errors.Is(err, ErrTrimmed) || through == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if err := l.stream.Purge(ctx, jetstream.WithPurgeSequence(seq)); err != nil {
		return err
	}
	return l.own.trim(ctx, through)
}
