package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// silent is a consumer on a server that lags.
type silent struct{ jetstream.MessagesContext }

func (silent) Next(...jetstream.NextOpt) (jetstream.Msg, error) {
	time.Sleep(checkInterval)
	return nil, context.DeadlineExceeded
}

func (silent) Stop() {}

// stopped counts calls of Stop.
type stopped struct {
	jetstream.MessagesContext
	times int
}

func (s *stopped) Stop() { s.times++ }

const records = 4 * directMessages

func TestRead_LeavesSilentConsumer(t *testing.T) {
	t.Parallel()
	l := openFilled(t, records)
	l.idle = &consumer{messages: silent{}, lastMessage: time.Now()}
	if err := readTo(Wait(t), l, records); err != errFound {
		t.Error(err)
	}
}

func TestConsumer_IsReusedByNextRead(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := openFilled(t, records)
	for late := Wait(t); l.idle == nil; { // a slow machine drops it
		if err := readTo(late, l, records); err != errFound {
			t.Fatal(err)
		}
	}
	if l.idle.seq != records+1 {
		t.Fatalf("kept is %+v, want the consumer of message %d", l.idle, records+1)
	}
	l.takeConsumer().messages.Stop()
	// A consumer lives for a second after its last message.
	now, long := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	for _, c := range []struct {
		seq         uint64 // next sequence
		lastMessage time.Time
		taken       bool
	}{{7, now, true}, {6, now, true}, {8, now, false}, {7, long, false}} {
		s := new(stopped)
		l.idle = &consumer{messages: s, seq: c.seq, lastMessage: c.lastMessage}
		f, err := Try(ctx, func() (*consumer, error) { return l.consumer(ctx, 7) })
		noError(t, err)
		if taken := f.messages == s; taken != c.taken || taken != (s.times == 0) || l.idle != nil {
			t.Errorf("%+v: taken %t, stopped %d times, kept %v", c, taken, s.times, l.idle)
		}
		f.messages.Stop()
	}
	first, second, dead, late := new(stopped), new(stopped), new(stopped), new(stopped)
	l.keepConsumer(&consumer{messages: first, seq: 7, lastMessage: now})
	l.keepConsumer(&consumer{messages: second, seq: 7, lastMessage: now})
	l.keepConsumer(&consumer{messages: dead, seq: 7, lastMessage: long})
	if first.times != 1 || second.times != 0 || dead.times != 1 || l.idle.messages != second {
		t.Errorf("stopped %d, %d and %d times; the second is to be kept", first.times, second.times, dead.times)
	}
	noError(t, l.Close())
	l.keepConsumer(&consumer{messages: late, seq: 7, lastMessage: now})
	if second.times != 1 || late.times != 1 {
		t.Errorf("closed: stopped %d and %d times", second.times, late.times)
	}
	// Otherwise the end of a Read costs one more request.
	if _, err := (&consumer{messages: silent{}}).next(l.life); err == nil || err == errNoMessage {
		t.Errorf("next of an ended context: %v", err)
	}
}
