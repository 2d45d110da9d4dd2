package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"handloom/internal/check"
)

// Read calls each with every record behind after, in order, and goes on with those that are
// appended, until ctx ends or each fails: it returns that error. rec is good during the
// call.
//
// It waits for servers that are away. [ErrTrimmed]: the record behind after is no longer
// kept. [ErrCorrupt]: it cannot be read back. [ErrBehind]: the stream ends before after,
// and goes on doing so. [ErrOtherStream]: the stream has another record than the one at
// after that this Log has read or appended.
func (l *Log) Read(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error {
	check.Given(ctx != nil, "cluster: Read", "context")
	check.Given(each != nil, "cluster: Read", "function")
	ctx, cancel := l.untilClosed(ctx)
	defer cancel()
	r := reader{log: l, last: location{at: after}, each: each}
	return r.run(ctx)
}

// run reads until ctx ends, or each fails, or nothing helps.
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

// A reader reads the messages of a stream one after the other, from the leader or from a
// consumer.
type reader struct {
	log    *Log
	each   func(at uint64, rec []byte) error
	failed error // of each

	seq           uint64   // of the next message; 0: it is to be found
	last          location // the record that was read last
	known         bool     // its sum is
	recordBuilder recordBuilder

	retries    int       // how often the next message was found wrong
	shortSince time.Time // since when the stream is found too short; zero: it is not
}

const (
	// fewMessages are asked for one by one, before a consumer is made: who reads one
	// record needs none.
	directMessages = 4

	// mostStrikes is how often a message must be found missing, or wrong, in turns from
	// the leader and from wherever the consumer is.
	maxRetries = 3

	// beyondTime is how long one of several servers may say that the stream is shorter than
	// it was. A leader that was cut off says so until it knows: it looks every 10 s whether
	// it has heard of the others in the last 10 s.
	maxGrace = 20 * time.Second
)

// judge returns the error that ends the reading, if err is one.
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

// read reads until something comes between.
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
		err := r.log.request(ctx, r.seq, &m)
		if isNotFound(err) {
			if err := r.missing(ctx); err != nil {
				return err
			}
			break
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

// missing says why the leader has no next message, or nil if that is yet to come.
func (r *reader) missing(ctx context.Context) error {
	first, end, err := r.log.ends(ctx)
	switch {
	case err != nil:
		return err
	case r.seq < first:
		// They are trimmed, or the stream was made anew.
		r.seq = 0
		r.log.forgetSequence()
		return errMoved
	case r.seq > end.seq+1:
		return fmt.Errorf("%w: record %d of %d", errTooShort, r.last.at, end.at)
	case r.seq <= end.seq:
		return r.wrong("the stream has none, and goes on to message %d", end.seq)
	}
	r.shortSince = time.Time{}
	return nil
}

var errMoved = errors.New("cluster: the messages are elsewhere, or trimmed")

func (r *reader) wrong(format string, args ...any) error {
	return fmt.Errorf("%w: message %d, behind record %d: %w", ErrCorrupt, r.seq, r.last.at, fmt.Errorf(format, args...))
}

// consume reads from a consumer until it ends.
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
		seq, b, err := f.next(ctx)
		if err == errNoMessage {
			if err := r.checkConsumer(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("cluster: consumer: %w", err)
		}
		if seq < r.seq {
			continue // the leader has told it meanwhile
		}
		if seq > r.seq {
			return r.wrong("message %d was sent instead", seq)
		}
		var m message
		if err := m.decode(b); err != nil {
			return r.wrong("%w", err)
		}
		if err := r.take(&m); err != nil {
			return err
		}
	}
}

// heldBack fails if the leader has the next message, or does not answer. A consumer sends
// what its server has of the stream, and one that hangs behind the others, or has a part of
// it no more, says that it lives and sends nothing.
func (r *reader) checkConsumer(ctx context.Context) error {
	_, end, err := r.log.ends(ctx)
	if err == nil && end.seq >= r.seq {
		err = fmt.Errorf("cluster: consumer: it sends no message %d, and the last is %d", r.seq, end.seq)
	}
	return err
}

// take takes the next message, and gives on the record that ends with it.
func (r *reader) take(m *message) error {
	switch {
	case m.number != r.last.at+1:
		return r.wrong("it is of record %d", m.number)
	case r.known && m.before != r.last.sum:
		return r.wrong("it follows another record")
	}
	if rec, whole := r.recordBuilder.add(m); whole {
		if m.before.next(rec) != m.sum {
			r.seq -= uint64(m.fragments - 1) // all of it again
			return r.wrong("record %d has another sum", m.number)
		}
		p := location{m.number, m.before, m.sum, r.seq}
		if err := r.log.replica.add(p, rec); err != nil {
			r.seq -= uint64(m.fragments - 1)
			return err
		}
		r.last, r.known = p, true
		r.log.noteSeen(p)
		if r.failed = r.each(m.number, rec); r.failed != nil {
			return r.failed
		}
		r.retries = 0
	}
	r.seq++
	r.shortSince = time.Time{}
	return nil
}
