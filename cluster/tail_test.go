package cluster

import (
	"context"
	"errors"
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

func TestFind_ReturnsPreviousSum(t *testing.T) {
	t.Parallel()
	ctx, s, o := t.Context(), Embedded(t.TempDir()), Options{Snapshots: Folder(t.TempDir())}
	var logs [2]*Log
	for i := range logs {
		l, err := Open(ctx, s, 1, o)
		noError(t, err)
		defer l.Close()
		logs[i] = l
	}
	sums := []chain{{}}
	for n := range uint64(5) {
		rec := []byte{byte(n)}
		if _, err := logs[0].Append(ctx, n, rec); err != nil {
			t.Fatal(err)
		}
		sums = append(sums, sums[n].next(rec))
	}
	for after, want := range sums {
		seq, sum, known, err := logs[1].find(ctx, uint64(after))
		if seq != uint64(after)+1 || sum != want || !known || err != nil {
			t.Errorf("behind record %d: message %d, sum %x (%t), %v", after, seq, sum, known, err)
		}
	}
	if _, _, _, err := logs[1].find(ctx, 6); !errors.Is(err, errTooShort) {
		t.Errorf("behind a record that is not there: %v", err)
	}
}

// A counted stream counts requests for messages.
type counted struct {
	jetstream.Stream
	requests int
}

func (c *counted) GetMsg(ctx context.Context, seq uint64, o ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	c.requests++
	return c.Stream.GetMsg(ctx, seq, o...)
}

// One request is for the last record, and three find a record of one message. A second search of it
// takes none.
func TestFind_TakesFewRequests(t *testing.T) {
	l := openFilled(t, 100)
	c := &counted{Stream: l.stream}
	l.stream, l.seen = c, location{}
	for _, after := range []uint64{1, 50, 98, 99, 100} {
		for _, most := range []int{4, 0} {
			c.requests = 0
			if seq, _, _, err := l.find(t.Context(), after); seq != after+1 || err != nil || c.requests > most {
				t.Errorf("after record %d: got message %d, %v and %d requests, want %d and %d", after, seq, err, c.requests, after+1, most)
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
	l, err := Open(ctx, s, 1, o)
	noError(t, err)
	defer l.Close()
	other, err := Open(ctx, s, 1, o)
	noError(t, err)
	defer other.Close()
	_, err = other.Append(ctx, 0, []byte("first"))
	noError(t, err)
	at, err := l.Tail(ctx)
	noError(t, err)
	before := l.conn.Stats().OutMsgs
	_, err = l.Append(ctx, at, []byte("second"))
	noError(t, err)
	if sent := l.conn.Stats().OutMsgs - before; sent != 1 {
		t.Errorf("Append after Tail: got %d requests, want 1", sent)
	}
	l.tail = location{}
	at, err = l.Tail(ctx)
	noError(t, err)
	_, err = other.Append(ctx, at, []byte("third"))
	noError(t, err)
	if _, err := l.Append(ctx, at, []byte("another third")); !errors.Is(err, ErrFenced) {
		t.Errorf("Append after another's: got %v, want %v", err, ErrFenced)
	}
}

// An answer that arrives after the request was sent again counts, so Read continues on a busy
// machine.
func TestRead_WaitsForSlowAnswers(t *testing.T) {
	t.Parallel()
	_, l := oneServerLog(t)
	_, err := l.Append(t.Context(), 0, []byte("first"))
	noError(t, err)
	l.forgetSequence()
	l.stream = delayedStream{l.stream, 600 * time.Millisecond}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := l.Read(ctx, 0, func(uint64, []byte) error { return errCut }); err != errCut {
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
