package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A leader that says twice that the stream is too short, with an append in between, has not
// said so for all the time.
func TestAStreamIsNotTooShortWhileItGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Log{doubt: beyondTime}
		for at := uint64(10); at < 13; at++ {
			l.see(place{at: at})
			if err := l.shrunk(at-1, at); err != nil {
				t.Errorf("behind record %d: %v", at, err)
			}
			time.Sleep(time.Hour)
		}
		if err := l.shrunk(11, 12); !errors.Is(err, ErrBehind) {
			t.Errorf("an hour later, with nothing appended: %v", err)
		}
	})
}

// cutOff is a stream of which nobody knows anything for a while, and then too little.
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

// That no leader answers does not count as one that says that the stream is too short.
func TestAStreamWithoutALeaderIsNotTooShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := time.Now().Add(time.Minute)
		l := &Log{doubt: beyondTime, stream: cutOff{until: answers}, most: 20}
		err := l.reaches(t.Context(), 20)
		if after := time.Since(answers); !errors.Is(err, ErrBehind) || after < beyondTime {
			t.Errorf("%v behind the first answer: %v", after, err)
		}
	})
}
