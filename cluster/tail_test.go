package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

func TestCheckLength_RestartsAfterAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Log{grace: maxGrace}
		for at := uint64(10); at < 13; at++ {
			l.noteSeen(location{at: at})
			if err := l.checkLength(at-1, at); err != nil {
				t.Errorf("behind record %d: %v", at, err)
			}
			time.Sleep(time.Hour)
		}
		if err := l.checkLength(11, 12); !errors.Is(err, ErrBehind) {
			t.Errorf("an hour later, with nothing appended: %v", err)
		}
		for _, last := range []uint64{12, 11} { // a full length resets the period
			if err := l.checkLength(last, 12); err != nil {
				t.Errorf("record %d is the last: %v", last, err)
			}
		}
	})
}

type cutOff struct {
	jetstream.Stream
	until time.Time
}

func (s cutOff) Info(context.Context, ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	if time.Now().Before(s.until) {
		return nil, context.Canceled
	}
	return new(jetstream.StreamInfo), nil
}

func TestCheckLength_IgnoresMissingLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := time.Now().Add(time.Minute)
		l := &Log{grace: maxGrace, stream: cutOff{until: answers}, highest: 20}
		err := l.waitForRecord(t.Context(), 20)
		if after := time.Since(answers); !errors.Is(err, ErrBehind) || after < maxGrace {
			t.Errorf("%v behind the first answer: %v", after, err)
		}
	})
}

// A counted stream notes requested messages. A request without an answer is repeated.
type counted struct {
	jetstream.Stream
	asked sync.Map
}

func (c *counted) GetMsg(ctx context.Context, seq uint64, o ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	c.asked.Store(seq, true)
	return c.Stream.GetMsg(ctx, seq, o...)
}

// One request is for the last record, and three find a record of one message. A second search of it
// takes none.
func TestFind_TakesFewRequests(t *testing.T) {
	l := openFilled(t, 100)
	c := &counted{Stream: l.stream}
	l.stream, l.seen = c, location{}
	sums := []chain{{}}
	for n := range uint64(100) {
		sums = append(sums, sums[n].next(fmt.Append(nil, n)))
	}
	_, err := Try(t.Context(), func() (seq uint64, err error) {
		seq, _, _, err = l.find(t.Context(), 101)
		return seq, err
	})
	if !errors.Is(err, errTooShort) {
		t.Errorf("after a record that is not there: got %v, want %v", err, errTooShort)
	}
	for _, after := range []uint64{0, 1, 50, 98, 99, 100} {
		for _, most := range []int{4, 0} {
			var sum chain
			seq, err := Try(t.Context(), func() (seq uint64, err error) {
				c.asked.Clear()
				seq, sum, _, err = l.find(t.Context(), after)
				return seq, err
			})
			requests := 0
			c.asked.Range(func(any, any) bool { requests++; return true })
			if seq != after+1 || sum != sums[after] || err != nil || after > 0 && requests > most {
				t.Errorf("after record %d: got message %d, sum %x, %v and %d requests, want %d, %x and %d", after, seq, sum, err, requests, after+1, sums[after], most)
			}
		}
		l.forgetSequence()
		if _, known := l.located(after); known {
			t.Errorf("record %d is located", after)
		}
	}
}

// A takeover asks for the end and appends: while the node is busy, each further request would
// prolong it.
func TestAppend_AsksNothingAfterTail(t *testing.T) {
	ctx, s, o := t.Context(), Embedded(t.TempDir()), Options{Snapshots: Folder(t.TempDir())}
	l, other := OpenPatiently(t, s, 1, o), OpenPatiently(t, s, 1, o)
	_, err := AppendTo(ctx, other, 0, []byte("first"))
	noError(t, err)
	l.watch.interval = time.Hour
	late := Wait(t)
	for sent := uint64(0); sent != 1; { // a slow answer is asked for again
		if late.Err() != nil {
			t.Fatalf("Append after Tail: got %d requests, want 1", sent)
		}
		l.tail = location{}
		at, err := l.Tail(ctx)
		noError(t, err)
		before := l.conn.Stats().OutMsgs
		_, err = AppendTo(ctx, l, at, []byte("second"))
		noError(t, err)
		sent = l.conn.Stats().OutMsgs - before
	}
	l.tail = location{}
	at, err := l.Tail(ctx)
	noError(t, err)
	_, err = AppendTo(ctx, other, at, []byte("third"))
	noError(t, err)
	if _, err := AppendTo(ctx, l, at, []byte("another third")); !errors.Is(err, ErrFenced) {
		t.Errorf("Append after another's: got %v, want %v", err, ErrFenced)
	}
}

// An answer that arrives after the request was sent again counts, so Read continues on a busy
// machine.
func TestRead_WaitsForSlowAnswers(t *testing.T) {
	t.Parallel()
	_, l := oneServerLog(t)
	_, err := AppendTo(t.Context(), l, 0, []byte("first"))
	noError(t, err)
	l.forgetSequence()
	l.stream = delayedStream{l.stream, 600 * time.Millisecond}
	if err := l.Read(Wait(t), 0, func(uint64, []byte) error { return errCut }); err != errCut {
		t.Errorf("got %v, want the record", err)
	}
}

// A delayedStream answers late.
type delayedStream struct {
	jetstream.Stream
	by time.Duration
}

func (s delayedStream) GetMsg(ctx context.Context, seq uint64, o ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	if err := pause(ctx, s.by); err != nil {
		return nil, err
	}
	return s.Stream.GetMsg(ctx, seq, o...)
}
