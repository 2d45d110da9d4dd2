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

	"handloom/internal/check"
)

// A snapshot is two blobs: its bytes and, once they were read back, their SHA-256. One without
// the other is ignored. Several nodes may save the same record, so names include the writer:
//
//	<cell>-<record>-<writer>.snap
//	<cell>-<record>-<writer>.sum
const (
	snapshotExt = ".snap"
	sumExt      = ".sum"

	keptSnapshots = 2

	// blobTime is the time limit of retries for blobs.
	blobTime = 15 * time.Second
)

type snapshot struct {
	at   uint64
	name string
}

func (l *Log) snapshot(at uint64) snapshot {
	return snapshot{at, fmt.Sprintf("%v-%016x-%08x", l.cell, at, l.writer)}
}

// snapshots returns the valid snapshots of the cell and all of them, newest first.
func (l *Log) snapshots(ctx context.Context) (counts, all []snapshot, err error) {
	var names []string
	err = l.reach(ctx, func(ctx context.Context) (err error) {
		names, err = l.blobs.Names(ctx)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("cluster: snapshots: %w", err)
	}
	for _, name := range names {
		name, ok := strings.CutSuffix(name, snapshotExt)
		fields := strings.Split(name, "-")
		if !ok || len(fields) != 3 || fields[0] != l.cell.String() {
			continue
		}
		if at, err := strconv.ParseUint(fields[1], 16, 64); err == nil {
			all = append(all, snapshot{at, name})
		}
	}
	slices.SortFunc(all, func(a, b snapshot) int {
		return cmp.Or(cmp.Compare(b.at, a.at), strings.Compare(a.name, b.name))
	})
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.rejected = slices.DeleteFunc(l.rejected, func(i snapshot) bool { return !slices.Contains(all, i) })
	for _, i := range all {
		if slices.Contains(names, i.name+sumExt) && !slices.Contains(l.rejected, i) {
			counts = append(counts, i)
		}
	}
	return counts, all, nil
}

// Save stores the output of write as the snapshot after record at, reads it back, and removes
// all but the two newest readable snapshots.
func (l *Log) Save(ctx context.Context, at uint64, write func(w io.Writer) error) error {
	check.Given(ctx != nil, "cluster: Save", "context")
	check.Given(write != nil, "cluster: Save", "function")
	ctx, cancel := l.untilClosed(ctx)
	defer cancel()
	i := l.snapshot(at)
	sum, err := l.put(ctx, i, write)
	if err == nil {
		err = l.readBack(ctx, i, sum)
	}
	if err == nil {
		err = l.blobs.Put(ctx, i.name+sumExt, bytes.NewReader(sum))
	}
	if err != nil {
		return l.withCause(ctx, fmt.Errorf("cluster: snapshot of record %d: %w", at, err))
	}
	l.noteVerified(i)
	return l.removeOld(ctx)
}

func (l *Log) put(ctx context.Context, i snapshot, write func(w io.Writer) error) (sum []byte, err error) {
	pr, pw := io.Pipe()
	h := sha256.New()
	written := make(chan struct{})
	go func() {
		defer close(written)
		pw.CloseWithError(write(io.MultiWriter(pw, h)))
	}()
	err = l.blobs.Put(ctx, i.name+snapshotExt, pr)
	pr.CloseWithError(cmp.Or(err, io.ErrClosedPipe))
	<-written
	return h.Sum(nil), err
}

func (l *Log) readBack(ctx context.Context, i snapshot, sum []byte) error {
	r, err := l.blobs.Get(ctx, i.name+snapshotExt)
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.Copy(h, r)
	err = errors.Join(err, r.Close())
	if err == nil && !bytes.Equal(h.Sum(nil), sum) {
		err = fmt.Errorf("%w: read back with another sum", ErrCorrupt)
	}
	return err
}

func (l *Log) verify(ctx context.Context, i snapshot) error {
	if l.isVerified(i) {
		return nil
	}
	r, err := l.blobs.Get(ctx, i.name+sumExt)
	if err != nil {
		return err
	}
	sum, err := io.ReadAll(io.LimitReader(r, 2*sha256.Size))
	if err = errors.Join(err, r.Close()); err == nil {
		err = l.readBack(ctx, i, sum)
	}
	if err == nil {
		l.noteVerified(i)
	}
	return err
}

func (l *Log) verifyAny(ctx context.Context, snapshots []snapshot, at uint64) (err error) {
	for _, i := range snapshots {
		if i.at != at {
			continue
		}
		if err = l.verify(ctx, i); err == nil {
			return nil
		}
	}
	return err
}

func (l *Log) isVerified(i snapshot) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return slices.Contains(l.verified, i)
}

func (l *Log) noteVerified(i snapshot) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.verified = append(l.verified[max(0, len(l.verified)-keptSnapshots):], i)
	l.rejected = slices.DeleteFunc(l.rejected, func(r snapshot) bool { return r == i })
}

// Reject drops the snapshot that Load opened at this position: this Log no longer lists or
// counts it; other nodes may. It is removed with snapshots of its age.
func (l *Log) Reject(ctx context.Context, at uint64) error {
	check.Given(ctx != nil, "cluster: Reject", "context")
	counts, _, err := l.snapshots(ctx)
	if err != nil {
		return l.withCause(ctx, err)
	}
	i := slices.IndexFunc(counts, func(i snapshot) bool { return i.at == at })
	if i < 0 {
		return fmt.Errorf("cluster: snapshot of record %d: %w", at, fs.ErrNotExist)
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.rejected = append(l.rejected, counts[i])
	return nil
}

// newest fails if a snapshot is unreachable, and with [ErrCorrupt] if damage leaves
// fewer than two.
func (l *Log) newest(ctx context.Context, counts []snapshot) (at []uint64, err error) {
	var bad error
	for _, p := range positions(counts) {
		err := l.verifyAny(ctx, counts, p)
		switch {
		case errors.Is(err, ErrCorrupt), errors.Is(err, fs.ErrNotExist):
			bad = errors.Join(bad, fmt.Errorf("snapshot of record %d: %w", p, err))
		case err != nil:
			return nil, fmt.Errorf("snapshot of record %d: %w", p, err)
		default:
			at = append(at, p)
		}
		if len(at) == keptSnapshots {
			return at, nil
		}
	}
	return at, errors.Join(errNotEnough, bad)
}

func (l *Log) removeOld(ctx context.Context) error {
	counts, all, err := l.snapshots(ctx)
	if err != nil {
		return err
	}
	if len(all) <= keptSnapshots {
		return nil
	}
	newest, err := l.newest(ctx, counts)
	if errors.Is(err, errNotEnough) {
		return nil
	}
	if err != nil {
		return l.withCause(ctx, fmt.Errorf("cluster: %w", err))
	}
	for _, i := range all {
		if i.at >= newest[keptSnapshots-1] {
			continue
		}
		// Sum first: without it a snapshot is ignored.
		if err := errors.Join(l.blobs.Delete(ctx, i.name+sumExt), l.blobs.Delete(ctx, i.name+snapshotExt)); err != nil {
			return l.withCause(ctx, fmt.Errorf("cluster: remove snapshot of record %d: %w", i.at, err))
		}
	}
	return nil
}

func positions(snapshots []snapshot) (at []uint64) {
	for _, i := range snapshots {
		at = append(at, i.at)
	}
	return slices.Compact(at)
}

// Snapshots returns the positions of the snapshots, newest first.
func (l *Log) Snapshots(ctx context.Context) (at []uint64, err error) {
	check.Given(ctx != nil, "cluster: Snapshots", "context")
	counts, _, err := l.snapshots(ctx)
	if err != nil {
		return nil, l.withCause(ctx, err)
	}
	return positions(counts), nil
}

// Load opens a snapshot of record at. It fails with [fs.ErrNotExist] if there is none.
func (l *Log) Load(ctx context.Context, at uint64) (r io.ReadCloser, err error) {
	check.Given(ctx != nil, "cluster: Load", "context")
	counts, _, err := l.snapshots(ctx)
	if err != nil {
		return nil, l.withCause(ctx, err)
	}
	i := slices.IndexFunc(counts, func(i snapshot) bool { return i.at == at })
	if i < 0 {
		return nil, fmt.Errorf("cluster: snapshot of record %d: %w", at, fs.ErrNotExist)
	}
	err = l.reach(ctx, func(context.Context) (err error) {
		r, err = l.blobs.Get(ctx, counts[i].name+snapshotExt)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cluster: snapshot of record %d: %w", at, err)
	}
	return r, nil
}

// reach retries f while the blobs are unreachable.
func (l *Log) reach(ctx context.Context, f func(ctx context.Context) error) error {
	ctx, done := l.untilClosed(ctx)
	defer done()
	ctx, cancel := context.WithTimeout(ctx, blobTime)
	defer cancel()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return retry(ctx, func(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrClosed) }, f)
}

var errNotEnough = errors.New("not covered by two readable snapshots")

// Trim removes records up to through, except the last record, if two readable snapshots at or
// after through exist.
func (l *Log) Trim(ctx context.Context, through uint64) error {
	check.Given(ctx != nil, "cluster: Trim", "context")
	ctx, cancel := l.untilClosed(ctx)
	defer cancel()
	if err := l.trim(ctx, through); err != nil {
		return l.withCause(ctx, fmt.Errorf("cluster: trim through record %d: %w", through, err))
	}
	return nil
}

func (l *Log) trim(ctx context.Context, through uint64) error {
	counts, _, err := l.snapshots(ctx)
	if err != nil {
		return err
	}
	newest, err := l.newest(ctx, counts)
	if err != nil {
		return err
	}
	if newest[keptSnapshots-1] < through {
		return fmt.Errorf("%w: the older is at record %d", errNotEnough, newest[keptSnapshots-1])
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
	return l.replica.trim(ctx, through)
}
