package cluster

import (
	"context"
	"sync"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// A noisyStream gets a foreign message after each of the next answers of Info.
type noisyStream struct {
	jetstream.Stream
	log   *Log
	mutex sync.Mutex
	left  int
}

func (s *noisyStream) Info(ctx context.Context, o ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	s.mutex.Lock() // another goroutine compares the settings
	defer s.mutex.Unlock()
	info, err := s.Stream.Info(ctx, o...)
	if err == nil && s.left > 0 {
		if _, err = s.log.conn.js.Publish(ctx, logSubject(s.log.cell), []byte("hello")); err == nil {
			s.left--
		}
	}
	return info, err
}

// The messages arrive between the question for the end and the append.
func TestForeignMessage_DoesNotFailAppend(t *testing.T) {
	t.Parallel()
	const records, foreign = 3, 5
	l := OpenPatiently(t, Embedded(t.TempDir()), 1, Options{Snapshots: Folder(t.TempDir())})
	l.stream = &noisyStream{Stream: l.stream, log: l.Log, left: foreign}
	for at := range uint64(records) {
		if _, err := AppendTo(t.Context(), l, at, []byte{byte(at)}); err != nil {
			t.Fatalf("append after record %d: %v", at, err)
		}
	}
	info, err := l.stream.Info(Wait(t))
	noError(t, err)
	// A message whose answer was late is published again.
	if n, want := l.ForeignMessages(), info.State.Msgs-records; n != want || n < foreign {
		t.Errorf("ForeignMessages: got %d, want %d, at least %d", n, want, foreign)
	}
}
