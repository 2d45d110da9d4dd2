package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/internal/check"
)

// Tail returns the position of the last record, from the stream leader.
func (l *Log) Tail(ctx context.Context) (at uint64, err error) {
	check.Given(ctx != nil, "cluster: Tail", "context")
	ctx, cancel := l.untilClosed(ctx)
	defer cancel()
	_, end, err := l.ends(ctx)
	if err != nil {
		return 0, l.withCause(ctx, err)
	}
	return end.at, nil
}

// withCause adds [ErrClosed] or the cause of ctx to err.
func (l *Log) withCause(ctx context.Context, err error) error {
	if l.life.Err() != nil {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	if ctx.Err() != nil && !errors.Is(err, context.Cause(ctx)) {
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return err
}

func (l *Log) ends(ctx context.Context) (first uint64, end location, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	l.mutex.Lock()
	highest, seen := l.highest, l.seen // later appends may be missing from the answer
	l.mutex.Unlock()
	begin := time.Now()
	info, err := l.info(ctx)
	l.noteResponse(begin, err)
	if err != nil {
		return 0, location{}, fmt.Errorf("cluster: last record: %w", err)
	}
	s := &info.State
	if s.Msgs == 0 {
		return s.LastSeq + 1, location{seq: s.LastSeq}, l.checkLength(0, highest)
	}
	l.locked(func() { l.foreign.trim(info.Created, s.FirstSeq) })
	var m message
	seq, err := l.previous(ctx, s.FirstSeq, s.LastSeq, &m)
	switch {
	case err != nil:
		return 0, location{}, err
	case seq == 0: // all messages are foreign
		return s.FirstSeq, location{seq: s.LastSeq}, l.checkLength(0, highest)
	}
	end = location{m.number, m.before, m.sum, s.LastSeq}
	if !m.last() {
		// The record is incomplete: its writer died, or is still writing.
		end = location{at: m.number - 1, sum: m.before, seq: s.LastSeq}
	}
	if err := l.sameRecord(end, seen); err != nil {
		return 0, location{}, err
	}
	err = l.checkLength(end.at, highest)
	if err == nil {
		l.locked(func() { l.ended = end })
	}
	return s.FirstSeq, end, err
}

// takeEnd returns the end of the last look. A World that takes over looks, and then appends.
func (l *Log) takeEnd() location {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	end := l.ended
	l.ended = location{}
	return end
}

func (l *Log) sameRecord(end, known location) error {
	if end.at == known.at && end.sum != known.sum {
		return fmt.Errorf("%w: record %d of stream %s has sum %x, want %x", ErrOtherStream, end.at, l.cell.Stream(), end.sum, known.sum)
	}
	return nil
}

// checkLength fails if the leader has reported a last record before highest for the grace
// period.
func (l *Log) checkLength(last, highest uint64) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	switch {
	case last >= highest:
		l.shortSince = time.Time{}
		return nil
	case l.shortSince.IsZero():
		l.shortSince = time.Now()
	}
	if time.Since(l.shortSince) < l.grace {
		return nil
	}
	return fmt.Errorf("%w: last record of stream %s: got %d, want at least %d", ErrBehind, l.cell.Stream(), last, highest)
}

// get sets m to a message, within requestTime. It fails with errForeign for a foreign one.
func (l *Log) get(ctx context.Context, seq uint64, m *message) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	begin := time.Now()
	raw, err := repeat(ctx, firstAnswer, func(ctx context.Context) (*jetstream.RawStreamMsg, error) { return l.stream.GetMsg(ctx, seq) })
	l.noteResponse(begin, err)
	if err != nil {
		return fmt.Errorf("cluster: message %d: %w", seq, err)
	}
	if isForeign(seq, raw.Header) {
		l.locked(func() { l.foreign.add(seq) })
		return errForeign
	}
	if err := m.decode(raw.Data); err != nil {
		return fmt.Errorf("%w: message %d: %w", ErrCorrupt, seq, err)
	}
	return nil
}

var errTooShort = errors.New("cluster: record after the end of the stream")

// find returns the sequence of the first message after a record, else the next sequence, and
// the record's sum if known. It takes O(log n) requests in the number of messages, a few if records
// have one message each, and none for the last record read, appended or found.
func (l *Log) find(ctx context.Context, after uint64) (seq uint64, sum chain, known bool, err error) {
	if p, ok := l.located(after); ok {
		return p.seq + 1, p.sum, true, nil
	}
	for removed := uint64(0); ; {
		first, end, err := l.ends(ctx)
		switch {
		case err != nil:
			return 0, sum, false, err
		case after > end.at:
			return 0, sum, false, fmt.Errorf("%w: got record %d, last is %d", errTooShort, after, end.at)
		}
		seq, sum, err = l.search(ctx, after, first, end)
		if !isNotFound(err) || first <= removed {
			if err == nil {
				l.locked(func() { l.found = location{at: after, sum: sum, seq: seq - 1} })
			}
			return seq, sum, err == nil, err
		}
		removed = first // another Log may have trimmed meanwhile
	}
}

// search is find among the messages from first to end.
func (l *Log) search(ctx context.Context, after, first uint64, end location) (seq uint64, sum chain, err error) {
	// The message is in this range, or the first at or after high that is not foreign.
	low, high := first, end.seq+1
	var m message
	for tries := uint64(0); low < high; tries++ {
		middle := (low + high) / 2
		// Most records have one message: then the first two tries are enough.
		if guess := end.seq + 1 - (end.at - after) - tries; tries < 2 && low <= guess && guess < high {
			middle = guess
		}
		seq, err := l.next(ctx, middle, high-1, &m)
		if err != nil {
			return 0, sum, err
		}
		if seq == 0 || m.number > after {
			high = middle
		} else {
			low = seq + 1
		}
	}
	low, err = l.next(ctx, low, end.seq, &m)
	switch {
	case err != nil:
		return 0, sum, err
	case low == 0:
		return end.seq + 1, end.sum, nil
	}
	if m.number != after+1 || m.fragment != 1 {
		return 0, sum, fmt.Errorf("%w: after record %d, first is %d", ErrTrimmed, after, m.number)
	}
	return low, m.before, nil
}

// lastSeen returns the last record read or appended if it is at this position. Its sequence is
// 0 after a Reseed.
func (l *Log) lastSeen(at uint64) (location, bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.seen, l.seen.at == at && at > 0
}

// located returns the location of a record whose sequence is known. A World that opens reads from
// one record twice.
func (l *Log) located(at uint64) (location, bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, p := range []location{l.seen, l.found} {
		if p.at == at && p.seq > 0 {
			return p, true
		}
	}
	return location{}, false
}

func (l *Log) forgetSequence() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.seen.seq, l.found.seq = 0, 0
}

func (l *Log) noteSeen(p location) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.seen = p; p.at > l.highest {
		l.highest, l.shortSince = p.at, time.Time{}
	}
}

func isNotFound(err error) bool { return errors.Is(err, jetstream.ErrMsgNotFound) }
