package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"handloom/journal"
)

// own is this node's own copy of the log. A record of the journal is a message of one part.
type localReplica struct {
	mutex   sync.Mutex
	journal *journal.Journal // nil: there is none
	at      uint64           // the last position of the journal
	last    location         // the record that is there
	err     error            // why nothing is added any more
}

// open looks at what the journal ends with.
func (o *localReplica) open(ctx context.Context, j *journal.Journal) (err error) {
	if j == nil {
		return nil
	}
	o.journal = j
	if o.at, err = j.Tail(ctx); err != nil || o.at == 0 {
		return err
	}
	var m message
	written := func(err error) bool { return !errors.Is(err, journal.ErrRefused) } // or it waits for its time
	err = retry(ctx, written, func(ctx context.Context) error {
		return j.Read(ctx, o.at-1, func(_ uint64, b []byte) error {
			if err := m.decode(b); err != nil {
				return fmt.Errorf("%w: the journal's record %d: %w", ErrCorrupt, o.at, err)
			}
			return errFound
		})
	})
	if err != errFound {
		return err
	}
	o.last = location{at: m.number, sum: m.sum}
	return nil
}

// add adds a record that is in the stream, unless it was added before. It fails if the
// journal has another record there, or another one that this one follows.
func (o *localReplica) add(p location, rec []byte) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	switch {
	case o.journal == nil:
		return nil
	case p.at == o.last.at && p.sum != o.last.sum, p.at == o.last.at+1 && p.before != o.last.sum:
		return fmt.Errorf("%w: record %d differs from the journal", ErrOtherStream, o.last.at)
	case o.err != nil || p.at <= o.last.at:
		return nil
	}
	m := message{number: p.at, before: p.before, sum: p.sum, fragment: 1, fragments: 1, bytes: rec}
	at, err := o.journal.Append(context.Background(), o.at, m.encode())
	if err != nil {
		o.err = fmt.Errorf("cluster: record %d: %w", p.at, err)
		return nil
	}
	o.at, o.last = at, p
	return nil
}

// trim lets the journal forget records at or before through. A journal asks for two
// snapshots; what it gets is the names of two places.
func (o *localReplica) trim(ctx context.Context, through uint64) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.journal == nil || o.err != nil || through > o.last.at {
		return nil
	}
	// Where records are missing from the journal, this is before the place.
	behind := o.last.at - through
	if behind >= o.at {
		return nil
	}
	saved, err := o.journal.Snapshots(ctx)
	if err == nil && (len(saved) == 0 || saved[0] < o.at-behind) {
		err = o.journal.Save(ctx, o.at-behind, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, "records through", through, "are trimmed")
			return err
		})
	}
	if err == nil {
		saved, err = o.journal.Snapshots(ctx)
	}
	if err == nil && len(saved) == keptSnapshots {
		err = o.journal.Trim(ctx, saved[keptSnapshots-1])
	}
	return err
}

// HasLocalReplica returns the last record that this node's journal has, and why it takes no more,
// if it does not: its disk is full, say. The Log goes on without it until the next Open.
func (l *Log) HasLocalReplica() (at uint64, err error) {
	l.replica.mutex.Lock()
	defer l.replica.mutex.Unlock()
	return l.replica.last.at, l.replica.err
}

// CutText returns the records that the last Open of this node's journal found torn and
// removed, as a text for [world.Status], or "". Open of the Log reads them from the servers.
func (l *Log) CutText() string {
	if l.replica.journal == nil {
		return ""
	}
	return l.replica.journal.CutText()
}

// compare looks for the last record of the journal in the stream.
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

// reaches waits until the stream has as many records, or has been too short for long enough.
func (l *Log) waitForRecord(ctx context.Context, at uint64) error {
	certain := func(err error) bool {
		return errors.Is(err, ErrBehind) || errors.Is(err, ErrCorrupt) || errors.Is(err, ErrOtherStream)
	}
	return retry(ctx, certain, func(ctx context.Context) error {
		_, end, err := l.ends(ctx)
		if err == nil && end.at < at {
			err = errTooShort
		}
		return err
	})
}

// trimOwn lets the journal forget what the stream has forgotten.
func (l *Log) trimReplica(ctx context.Context) error {
	if l.replica.last.at == 0 {
		return nil
	}
	first, end, err := l.ends(ctx)
	if err != nil || first > end.seq {
		return err
	}
	var m message
	if err := l.request(ctx, first, &m); err != nil {
		return err
	}
	return l.replica.trim(ctx, m.number-1)
}
