package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/internal/check"
)

// Append adds rec after the record at prev and returns its position once a quorum has it. If
// the next record has the same bytes, Append returns its position; if it differs, Append fails
// with [ErrFenced]. If the record at prev differs from the one this Log read or appended there,
// Append fails with [ErrOtherStream] and appends nothing. If somebody changed the settings of
// the stream, Append notices it within seconds, and then fails with [ErrSettings] and appends
// nothing until they are restored.
//
// After any other error the outcome is unknown.
func (l *Log) Append(ctx context.Context, prev uint64, rec []byte) (at uint64, err error) {
	check.Given(ctx != nil, "cluster: Append", "context")
	l.appending.Lock()
	defer l.appending.Unlock()
	ctx, cancel := l.untilClosed(ctx)
	defer cancel()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if len(rec) > maxRecord {
		return 0, fmt.Errorf("cluster: record: got %d bytes, want at most %d", len(rec), maxRecord)
	}
	if err := l.wrongSettings(ctx); err != nil {
		return 0, l.withCause(ctx, fmt.Errorf("cluster: append after record %d: %w", prev, err))
	}
	end, err := l.append(ctx, prev, rec)
	if err == nil {
		err = l.replica.add(end, rec)
	}
	l.noteLeading(err == nil)
	if err != nil {
		l.tail = location{}
		return 0, l.withCause(ctx, err)
	}
	l.tail = end
	l.noteSeen(end)
	return end.at, nil
}

// noteLeading wakes Serve when the World begins or may have ceased to lead.
func (l *Log) noteLeading(leading bool) {
	if l.leading == leading {
		return
	}
	l.leading = leading
	wake(l.led)
}

func (l *Log) append(ctx context.Context, prev uint64, rec []byte) (location, error) {
	known := l.tail
	if known.at != prev {
		known = l.takeEnd()
	}
	a := attempt{until: time.Now().Add(appendTime), wait: firstRetry}
	if known.at == prev && known.seq > 0 {
		if end, err := l.publish(ctx, known, rec, l.send); !refused(err) {
			return end, err
		}
	}
	for {
		_, end, err := l.ends(ctx)
		if err == nil && known.seq > 0 {
			err = l.sameRecord(end, known)
		}
		switch {
		case err != nil:
			return location{}, err
		case end.at > prev:
			return l.recordAfter(ctx, prev, rec)
		case end.at < prev:
			return location{}, fmt.Errorf("cluster: append after record %d: last record is %d", prev, end.at)
		}
		if !a.again(ctx, end, l.ForeignMessages()) {
			return l.recordAfter(ctx, prev, rec)
		}
		// The new record voids an incomplete one before it.
		if end, err = l.publish(ctx, end, rec, l.send); !refused(err) {
			return end, err
		}
		a.refused = true
	}
}

// An attempt is the last try of an append at an end that the stream leader reported.
type attempt struct {
	end     location
	refused bool
	foreign uint64 // known foreign messages
	until   time.Time
	wait    time.Duration
}

// again reports whether the append may be tried at end. If it was refused, a foreign message must
// have come first, or a message that the stream leader does not show yet.
func (a *attempt) again(ctx context.Context, end location, foreign uint64) bool {
	hidden := a.refused && foreign == a.foreign
	if hidden && (end.seq != a.end.seq || time.Now().After(a.until)) {
		return false
	}
	if hidden {
		_ = pause(ctx, a.wait)
		a.wait = min(2*a.wait, lastRetry)
	}
	a.end, a.foreign = end, foreign
	return true
}

// publish sends the fragments of rec directly after end, each by send.
func (l *Log) publish(ctx context.Context, end location, rec []byte, send sendFunc) (location, error) {
	m := message{number: end.at + 1, before: end.sum, sum: end.sum.next(rec), fragments: max(1, (len(rec)+fragmentBytes-1)/fragmentBytes)}
	for m.fragment = 1; m.fragment <= m.fragments; m.fragment++ {
		m.bytes = rec[:min(len(rec), fragmentBytes)]
		rec = rec[len(m.bytes):]
		ack, err := send(ctx, end.seq, m.encode())
		if err != nil {
			return location{}, fmt.Errorf("cluster: record %d: %w", m.number, err)
		}
		end.seq = ack
	}
	return location{m.number, m.before, m.sum, end.seq}, nil
}

// A sendFunc appends a message after a sequence and returns its sequence.
type sendFunc func(ctx context.Context, behind uint64, b []byte) (seq uint64, err error)

// logSubject returns the subject of a log. Every client that can publish on it controls the cell.
func logSubject(cell CellID) string { return "handloom.cell." + cell.String() }

// appendTime is the time limit of an acknowledgement. Callers may retry.
const appendTime = 2 * requestTime

func (l *Log) send(ctx context.Context, behind uint64, b []byte) (seq uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, appendTime)
	defer cancel()
	begin := time.Now()
	// The stream takes the message once, because it must follow the last sequence. A repeated one
	// is refused if the first one arrived, and the caller compares the records.
	ack, err := repeat(ctx, 2*firstAnswer+time.Duration(len(b))*time.Microsecond, func(ctx context.Context) (*jetstream.PubAck, error) {
		return l.conn.js.Publish(ctx, logSubject(l.cell), b,
			jetstream.WithExpectLastSequence(behind), jetstream.WithExpectStream(l.cell.Stream()), jetstream.WithRetryAttempts(0))
	})
	l.noteResponse(begin, err)
	if err != nil {
		return 0, err
	}
	l.conn.noteAppend()
	if ack.Sequence != behind+1 {
		return 0, fmt.Errorf("cluster: message: got sequence %d, want %d", ack.Sequence, behind+1) // void
	}
	return ack.Sequence, nil
}

func refused(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

var errFound = errors.New("found")

// recordAfter compares the leader's record after prev with rec. Without a record the outcome
// stays unknown.
func (l *Log) recordAfter(ctx context.Context, prev uint64, rec []byte) (location, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime*time.Duration(1+len(rec)/pullBytes))
	defer cancel()
	r := reader{log: l, last: location{at: prev}, each: func(at uint64, there []byte) error {
		if !bytes.Equal(there, rec) {
			return fmt.Errorf("%w: record %d", ErrFenced, at)
		}
		return errFound
	}}
	if err := r.run(ctx); err != errFound {
		return location{}, err
	}
	return r.last, nil
}
