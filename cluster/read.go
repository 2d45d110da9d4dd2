package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"handloom/internal/check"
)

// Read calls each with every record after the given one, in order, and continues with new
// records until ctx ends or each fails. It returns that error. rec is valid during the call.
//
// It waits for missing servers. It fails with [ErrTrimmed] or [ErrCorrupt] if the next record
// is trimmed or unreadable, with [ErrBehind] if the stream ends before after, and with
// [ErrOtherStream] if its record at after differs from the one this Log read or appended.
func (l *Log) Read(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error {
	check.Given(ctx != nil, "cluster: Read", "context")
	check.Given(each != nil, "cluster: Read", "function")
	ctx, cancel := l.untilClosed(ctx)
	defer cancel()
	r := reader{log: l, last: location{at: after}, each: each}
	return r.run(ctx)
}

func (r *reader) run(ctx context.Context) error {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		from := r.seq
		err := r.read(ctx)
		switch {
		case r.failed != nil:
			return r.failed
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		if err := r.judge(err); err != nil {
			return err
		}
		if r.seq > from {
			wait = firstRetry
		}
		if pause(ctx, wait) != nil {
			return context.Cause(ctx)
		}
	}
}

// A reader reads the messages of a stream in order, from the leader or a consumer.
type reader struct {
	log    *Log
	each   func(at uint64, rec []byte) error
	failed error // error of each

	seq           uint64 // next sequence; 0: unknown
	last          location
	known         bool // whether last.sum is known
	recordBuilder recordBuilder

	retries    int       // failed checks of the next message
	shortSince time.Time // start of reports of a short stream; zero: none
}

const (
	// directMessages is the number of messages requested before a consumer is created.
	directMessages = 4

	// maxRetries is the number of failed checks of a message, by the leader and the consumer in
	// turn, that ends a Read.
	maxRetries = 3

	// maxGrace is the time for which one of several servers may report a short stream. A cut
	// off leader needs up to 20 s to notice: every 10 s it checks for messages of the last 10
	// s.
	maxGrace = 20 * time.Second
)

// judge returns err if it ends the Read.
func (r *reader) judge(err error) error {
	switch {
	case errors.Is(err, ErrTrimmed), errors.Is(err, ErrBehind):
		return err
	case errors.Is(err, errTooShort):
		if r.shortSince.IsZero() {
			r.shortSince = time.Now()
		}
		if time.Since(r.shortSince) >= r.log.grace {
			return fmt.Errorf("%w: %w", ErrBehind, err)
		}
	case errors.Is(err, ErrCorrupt), errors.Is(err, ErrOtherStream):
		if r.retries++; r.retries >= maxRetries {
			return err
		}
	}
	return nil
}

func (r *reader) read(ctx context.Context) error {
	if r.seq == 0 {
		if p, ok := r.log.lastSeen(r.last.at); ok && !r.known {
			r.last.sum, r.known = p.sum, true
		}
		seq, sum, known, err := r.log.find(ctx, r.last.at)
		if err != nil {
			return err
		}
		if r.known && known {
			if err := r.log.sameRecord(location{at: r.last.at, sum: sum}, r.last); err != nil {
				return err
			}
		}
		r.seq, r.last.sum, r.known, r.recordBuilder = seq, sum, known, recordBuilder{}
	}
	for range directMessages {
		if r.retries == 1 {
			break
		}
		var m message
		err := r.log.get(ctx, r.seq, &m)
		if isNotFound(err) {
			if err := r.missing(ctx); err != nil {
				return err
			}
			break
		}
		if err == errForeign {
			r.skip()
			continue
		}
		if err != nil {
			return err
		}
		if err := r.take(&m); err != nil {
			return err
		}
	}
	return r.consume(ctx)
}

// missing returns the reason why the leader lacks the next message, or nil at the end.
func (r *reader) missing(ctx context.Context) error {
	first, end, err := r.log.ends(ctx)
	switch {
	case err != nil:
		return err
	case r.seq < first:
		// The messages were trimmed, or the stream was reseeded.
		r.seq = 0
		r.log.forgetSequence()
		return errMoved
	case r.seq > end.seq+1:
		return fmt.Errorf("%w: got record %d, last is %d", errTooShort, r.last.at, end.at)
	case r.seq <= end.seq:
		return r.wrong("missing, last message is %d", end.seq)
	}
	r.shortSince = time.Time{}
	return nil
}

var errMoved = errors.New("cluster: the messages moved or are trimmed")

func (r *reader) wrong(format string, args ...any) error {
	return fmt.Errorf("%w: message %d, after record %d: %w", ErrCorrupt, r.seq, r.last.at, fmt.Errorf(format, args...))
}

func (r *reader) consume(ctx context.Context) error {
	f, err := r.log.consumer(ctx, r.seq)
	if err != nil {
		return fmt.Errorf("cluster: consumer: %w", err)
	}
	err = r.drain(ctx, f)
	if r.failed != nil || ctx.Err() != nil {
		r.log.keepConsumer(f)
	} else {
		f.messages.Stop()
	}
	return err
}

func (r *reader) drain(ctx context.Context, f *consumer) error {
	for {
		msg, err := f.next(ctx)
		if err == errNoMessage {
			if err := r.checkConsumer(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("cluster: consumer: %w", err)
		}
		seq := f.seq - 1
		if seq < r.seq {
			continue // already received from the leader
		}
		if seq > r.seq {
			return r.wrong("got message %d", seq)
		}
		if isForeign(seq, msg.Headers()) {
			r.skip()
			continue
		}
		var m message
		if err := m.decode(msg.Data()); err != nil {
			return r.wrong("%w", err)
		}
		if err := r.take(&m); err != nil {
			return err
		}
	}
}

// skip passes over a foreign message. It voids an incomplete record, whose writer could not
// continue.
func (r *reader) skip() {
	r.recordBuilder.fragments = 0
	r.log.noteSkipped(r.last.at, r.seq)
	r.seq++
	r.retries, r.shortSince = 0, time.Time{}
}

// checkConsumer fails if the leader has the next message or does not answer. A consumer on a
// lagging or damaged server only sends heartbeats.
func (r *reader) checkConsumer(ctx context.Context) error {
	_, end, err := r.log.ends(ctx)
	if err == nil && end.seq >= r.seq {
		err = fmt.Errorf("cluster: consumer: message %d missing, last message is %d", r.seq, end.seq)
	}
	return err
}

// take checks the next message and passes on a complete record.
func (r *reader) take(m *message) error {
	switch {
	case m.number != r.last.at+1:
		return r.wrong("record: got %d, want %d", m.number, r.last.at+1)
	case r.known && m.before != r.last.sum:
		return r.wrong("wrong sum of the previous record")
	}
	if rec, whole := r.recordBuilder.add(m); whole {
		if m.before.next(rec) != m.sum {
			r.seq -= uint64(m.fragments - 1) // read the whole record again
			return r.wrong("wrong sum of record %d", m.number)
		}
		p := location{m.number, m.before, m.sum, r.seq}
		if err := r.log.replica.add(p, rec); err != nil {
			r.seq -= uint64(m.fragments - 1)
			return err
		}
		r.last, r.known = p, true
		r.log.noteSeen(p)
		r.log.trimLater()
		if r.failed = r.each(m.number, rec); r.failed != nil {
			return r.failed
		}
		r.retries = 0
	}
	r.seq++
	r.shortSince = time.Time{}
	return nil
}
