package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"handloom/journal"
)

// Each record is a message with one fragment.
type localReplica struct {
	mutex   sync.Mutex
	journal *journal.Journal // or nil
	at      uint64
	last    location
	err     error // reason why nothing is added

	created time.Time // of the stream that has its last record; zero: not compared
	first   uint64    // sequence of that stream's first message at the last trim
}

// open reads the last record of the journal.
func (r *localReplica) open(ctx context.Context, j *journal.Journal) (err error) {
	if j == nil {
		return nil
	}
	r.journal = j
	if r.at, err = j.Tail(ctx); err != nil || r.at == 0 {
		return err
	}
	var m message
	written := func(err error) bool { return !errors.Is(err, journal.ErrRefused) } // otherwise the write is delayed
	err = retry(ctx, written, func(ctx context.Context) error {
		return j.Read(ctx, r.at-1, func(_ uint64, b []byte) error {
			if err := m.decode(b); err != nil {
				return fmt.Errorf("%w: journal record %d: %w", ErrCorrupt, r.at, err)
			}
			return errFound
		})
	})
	if err != errFound {
		return err
	}
	r.last = location{at: m.number, sum: m.sum}
	return nil
}

func (r *localReplica) add(p location, rec []byte) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	switch {
	case r.journal == nil:
		return nil
	case p.at == r.last.at && p.sum != r.last.sum, p.at == r.last.at+1 && p.before != r.last.sum:
		return fmt.Errorf("%w: record %d differs from the journal", ErrOtherStream, r.last.at)
	case r.err != nil || p.at <= r.last.at:
		return nil
	}
	m := message{number: p.at, before: p.before, sum: p.sum, fragment: 1, fragments: 1, bytes: rec}
	at, err := r.journal.Append(context.Background(), r.at, m.encode())
	if err != nil {
		r.err = fmt.Errorf("cluster: record %d: %w", p.at, err)
		return nil
	}
	r.at, r.last = at, p
	return nil
}

// A journal trims up to the older of two snapshots, so each trim saves a dummy snapshot.
func (r *localReplica) trim(ctx context.Context, through uint64) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.journal == nil || r.err != nil || through > r.last.at {
		return nil
	}
	// If the journal lacks records, this position is too low, which is safe.
	behind := r.last.at - through
	if behind >= r.at {
		return nil
	}
	saved, err := r.journal.Snapshots(ctx)
	if err == nil && (len(saved) == 0 || saved[0] < r.at-behind) {
		err = r.journal.Save(ctx, r.at-behind, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, "records through", through, "are trimmed")
			return err
		})
	}
	if err == nil {
		saved, err = r.journal.Snapshots(ctx)
	}
	if err == nil && len(saved) >= keptSnapshots {
		err = r.journal.Trim(ctx, saved[keptSnapshots-1])
	}
	return err
}

// LocalTail returns the number of the last record in this node's journal, and the error
// that ended writing to it, such as a full disk. The Log continues without it until the next
// Open.
func (l *Log) LocalTail() (at uint64, err error) {
	l.replica.mutex.Lock()
	defer l.replica.mutex.Unlock()
	return l.replica.last.at, l.replica.err
}

// CutText describes the torn records that the last Open of the journal removed, for
// [world.Status], or returns "". Open of the Log reads them from the servers.
func (l *Log) CutText() string {
	if l.replica.journal == nil {
		return ""
	}
	return l.replica.journal.CutText()
}

func (l *Log) compareReplica(ctx context.Context) error {
	want := l.replica.last
	if want.at == 0 {
		return nil
	}
	if err := l.waitForRecord(ctx, want.at); err != nil {
		return err
	}
	r := reader{log: l, last: location{at: want.at - 1}, each: func(uint64, []byte) error { return errFound }}
	err := r.run(ctx)
	if err == errFound || errors.Is(err, ErrTrimmed) { // trimmed: this node was away for long
		return nil
	}
	return err
}

func (l *Log) waitForRecord(ctx context.Context, at uint64) error {
	certain := func(err error) bool { return isAny(err, ErrBehind, ErrCorrupt, ErrOtherStream) }
	return retry(ctx, certain, func(ctx context.Context) error {
		_, end, err := l.ends(ctx)
		if err == nil && end.at < at {
			err = errTooShort
		}
		return err
	})
}

// follow allows to trim the journal like this stream, which has its last record.
func (r *localReplica) follow(created time.Time) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.created = created
}

// isAhead reports whether the stream was trimmed after the journal. Another stream may have
// other records.
func (r *localReplica) isAhead(created time.Time, first uint64) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return !r.created.IsZero() && created.Equal(r.created) && first > r.first
}

func (r *localReplica) noteTrimmed(first uint64) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.first = max(r.first, first)
}

// trimLater trims the journal of a Log that reads: Trim trims only the journal of its caller.
// It looks for a trim of the stream now and then, and does not wait for it.
func (l *Log) trimLater() {
	if l.replica.journal == nil {
		return
	}
	if _, due := l.watch.look(); !due {
		return
	}
	l.watch.start(func() {
		ctx, cancel := context.WithTimeout(l.life, requestTime)
		defer cancel()
		_ = l.trimReplica(ctx) // a later look repeats it after an error
	})
}

// trimReplica trims the journal if the stream was trimmed.
func (l *Log) trimReplica(ctx context.Context) error {
	if l.replica.journal == nil {
		return nil
	}
	first, end, err := l.ends(ctx)
	if err != nil || first > end.seq || !l.replica.isAhead(l.watch.stream(), first) {
		return err
	}
	var m message
	if seq, err := l.next(ctx, first, end.seq, &m); err != nil || seq == 0 {
		return err
	}
	if err := l.replica.trim(ctx, m.number-1); err != nil {
		return err
	}
	l.replica.noteTrimmed(first)
	return nil
}
