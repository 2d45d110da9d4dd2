package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// A history is the snapshots older than the newest two, and the segments trimmed up to the older
// of these. Trim removes it from its old end, so that every snapshot left has all records after
// it; a power failure undoes at most the last removal.
//
// File times decide only the spacing of old snapshots. They decide nothing that a reader of the
// journal computes.
type history struct {
	saved    []savedFile   // older than the newest two, ascending
	segments []segmentFile // trimmed, ascending
	newest   time.Time     // time of the newest snapshot
	before   uint64        // position of the older of the newest two
}

type savedFile struct {
	at      uint64
	bytes   int64
	changed time.Time
}

type segmentFile struct {
	first, last uint64
	bytes       int64
}

const (
	// denseTime is the age up to which one snapshot per denseSpacing stays; of older ones one
	// per sparseSpacing stays.
	denseTime     = 6 * time.Hour
	denseSpacing  = 10 * time.Minute
	sparseSpacing = 6 * time.Hour
)

// thin removes from h all but the first snapshot of each stretch of time, and returns the
// removed ones.
func (h *history) thin() (drop []savedFile) {
	kept, stretch := h.saved[:0:0], time.Time{}
	for _, s := range h.saved {
		spacing := denseSpacing
		if h.newest.Sub(s.changed) > denseTime {
			spacing = sparseSpacing
		}
		if at := s.changed.Truncate(spacing); len(kept) == 0 || !at.Equal(stretch) {
			kept, stretch = append(kept, s), at
			continue
		}
		drop = append(drop, s)
	}
	h.saved = kept
	return drop
}

// excess removes from h the snapshots and segments that Keep has no room for, oldest first.
func (h *history) excess(keep int64) (saved []savedFile, segments []segmentFile) {
	var bytes int64
	for _, s := range h.saved {
		bytes += s.bytes
	}
	for _, s := range h.segments {
		bytes += s.bytes
	}
	for {
		oldest := h.before
		if len(h.saved) > 0 {
			oldest = h.saved[0].at
		}
		// Records before the oldest snapshot lead to no state.
		for len(h.segments) > 0 && h.segments[0].last <= oldest {
			bytes -= h.segments[0].bytes
			segments, h.segments = append(segments, h.segments[0]), h.segments[1:]
		}
		if len(h.saved) == 0 || keep > 0 && bytes <= keep {
			return saved, segments
		}
		bytes -= h.saved[0].bytes
		saved, h.saved = append(saved, h.saved[0]), h.saved[1:]
	}
}

// readHistory reads the names of the history, and with Keep sizes and times. saved is
// descending, with at least two snapshots.
func (j *Journal) readHistory(saved []uint64, through uint64) (h history, err error) {
	h.before = saved[keptSnapshots-1]
	stat := func(name string) (bytes int64, changed time.Time) {
		if j.o.Keep == 0 || err != nil {
			return 0, time.Time{}
		}
		bytes, changed, err = j.o.disk.stat(name)
		return bytes, changed
	}
	_, h.newest = stat(fileName(saved[0], snapshotExt))
	for i := len(saved) - 1; i >= keptSnapshots; i-- {
		s := savedFile{at: saved[i]}
		s.bytes, s.changed = stat(fileName(s.at, snapshotExt))
		h.saved = append(h.saved, s)
	}
	for _, s := range j.trimmable(through) {
		s.bytes, _ = stat(fileName(s.first, segmentExt))
		h.segments = append(h.segments, s)
	}
	return h, err
}

// trimmable returns the segments with only records up to through.
func (j *Journal) trimmable(through uint64) (s []segmentFile) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, next := range j.segments[1:] {
		if next-1 > through {
			break
		}
		s = append(s, segmentFile{first: j.segments[i], last: next - 1})
	}
	return s
}

func (j *Journal) dropHistory(ctx context.Context, saved []uint64, through uint64) error {
	h, err := j.readHistory(saved, through)
	if err != nil {
		return err
	}
	drop := h.thin()
	old, segments := h.excess(j.o.Keep)
	drop = append(drop, old...)
	slices.SortFunc(drop, func(a, b savedFile) int { return cmp.Compare(a.at, b.at) })
	for _, s := range drop {
		if err := j.retire(ctx, fileName(s.at, snapshotExt)); err != nil {
			return err
		}
	}
	for _, s := range segments {
		name := fileName(s.first, segmentExt)
		if err := j.archive(ctx, name); err != nil {
			return err
		}
		j.hideFirst()
		if err := j.remove(name); err != nil {
			j.showFirst(s.first)
			return err
		}
	}
	return j.dropRejected(h.before)
}

// retire archives and removes a file.
func (j *Journal) retire(ctx context.Context, name string) error {
	if err := j.archive(ctx, name); err != nil {
		return err
	}
	return j.remove(name)
}

func (j *Journal) archive(ctx context.Context, name string) error {
	if j.o.Archive == nil {
		return nil
	}
	f, err := j.o.disk.open(name)
	if err != nil {
		return err
	}
	size, err := f.size()
	if err == nil {
		err = j.o.Archive(ctx, name, io.NewSectionReader(f, 0, size))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("archive %s: %w", name, err)
	}
	return nil
}

// remove makes the earlier changes of names durable first: snapshots whose Save failed after
// its rename, and the removals of older files.
func (j *Journal) remove(name string) error {
	if err := j.o.disk.sync(""); err != nil {
		return err
	}
	return j.o.disk.remove(name)
}

// hideFirst hides the first segment from readers.
func (j *Journal) hideFirst() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.segments = j.segments[1:]
}

func (j *Journal) showFirst(first uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.segments = append([]uint64{first}, j.segments...)
}

// dropRejected removes rejected snapshots before a position.
func (j *Journal) dropRejected(before uint64) error {
	names, err := j.o.disk.list()
	if err != nil {
		return err
	}
	for _, at := range numbered(names, rejectedExt) {
		if at >= before {
			break
		}
		if err := j.o.disk.remove(fileName(at, rejectedExt)); err != nil {
			return err
		}
	}
	return nil
}
