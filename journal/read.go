package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"handloom/internal/check"
)

// Read calls each with every record after position after, in order. It waits for new records
// until ctx ends or each fails, and returns that error. rec is valid during the call. Records
// that [Every] still collects are not seen.
//
// It returns ErrTrimmed if the records are not kept, ErrCorrupt if they cannot be read, and
// ErrBroken, after the last record, if the Journal is broken or closed.
func (j *Journal) Read(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error {
	check.Given(ctx != nil, "journal: Read", "context")
	check.Given(each != nil, "journal: Read", "function")
	r := reader{j: j, after: after, each: each}
	defer r.close()
	for {
		written, more, broken := j.written()
		if after > written {
			return fmt.Errorf("%w: read after record %d, but the last is %d", ErrRefused, after, written)
		}
		for r.after < written {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := r.unit(); err != nil {
				return err
			}
		}
		if broken != nil {
			return broken
		}
		select {
		case <-more:
		case <-j.poll():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// written returns the position of the last written record, and a channel closed by the next
// write.
func (j *Journal) written() (at uint64, more <-chan struct{}, broken error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.refresh()
	return j.tail.seq, j.more, cmp.Or(err, j.broken)
}

type reader struct {
	j     *Journal
	after uint64 // position of the last record passed to each
	each  func(at uint64, rec []byte) error
	c     *cursor
	noted uint64 // the last stretch of records whose place is noted, plus 1
}

func (r *reader) close() {
	if r.c != nil {
		r.c.close()
		r.c = nil
	}
}

func (r *reader) unit() error {
	if err := r.enter(); err != nil {
		return err
	}
	at := r.c.at.seq
	r.note()
	payload, err := r.c.next()
	if err == errEnd {
		return r.c.corrupt(err)
	}
	if err != nil {
		return r.c.fault(err)
	}
	_, err = eachRecord(payload, func(rec []byte) error {
		if at++; at <= r.after {
			return nil
		}
		if err := r.each(at, rec); err != nil {
			return err
		}
		r.after = at
		return nil
	})
	return err
}

func (r *reader) enter() error {
	at := r.after
	if r.c != nil {
		at = r.c.at.seq
	}
	first, ok := r.j.findSegment(at + 1)
	if !ok {
		return fmt.Errorf("%w: record %d", ErrTrimmed, at+1)
	}
	if r.c != nil && first <= r.c.first() {
		return nil
	}
	before := r.c
	c, err := openCursor(r.j.o.disk, first)
	if errors.Is(err, fs.ErrNotExist) && r.j.isTrimmed(first) {
		return fmt.Errorf("%w: record %d", ErrTrimmed, at+1)
	}
	if err != nil {
		return err
	}
	r.c = c
	if before == nil {
		r.skip(first)
		return nil
	}
	if err := before.close(); err != nil {
		return err
	}
	if c.before != before.at {
		return &CorruptError{File: c.name(), At: before.at.seq + 1, Reason: errChain.Error()}
	}
	return nil
}

// skip moves to the last known place in the segment before the next record.
func (r *reader) skip(first uint64) {
	if p, ok := r.j.place(first, r.after); ok {
		r.c.offset, r.c.at = p.offset, p.at
	}
}

func (r *reader) note() {
	stretch := r.c.at.seq/placeRecords + 1
	if r.j.live == nil || r.noted == stretch {
		return
	}
	r.noted = stretch
	r.j.mu.Lock()
	defer r.j.mu.Unlock()
	r.j.note(r.c)
}

func (j *Journal) findSegment(at uint64) (first uint64, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	i, found := slices.BinarySearch(j.segments, at)
	if !found {
		i--
	}
	if i < 0 {
		return 0, false
	}
	return j.segments[i], true
}

// isTrimmed reports whether a segment found before is no longer there.
func (j *Journal) isTrimmed(first uint64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.refresh() == nil && !slices.Contains(j.segments, first)
}
