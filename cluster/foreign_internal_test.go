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
		s.left--
		_, err = s.log.js.Publish(ctx, s.log.cell.Subject(), []byte("hello"))
	}
	return info, err
}

// The messages arrive between the question for the end and the append.
func TestForeignMessage_DoesNotFailAppend(t *testing.T) {
	t.Parallel()
	l, err := Open(t.Context(), Embedded(t.TempDir()), 1, Options{Snapshots: Folder(t.TempDir())})
	noError(t, err)
	defer l.Close()
	l.stream = &noisyStream{Stream: l.stream, log: l, left: 5}
	for at := range uint64(3) {
		if _, err := l.Append(t.Context(), at, []byte{byte(at)}); err != nil {
			t.Fatalf("append after record %d: %v", at, err)
		}
	}
	if n := l.ForeignMessages(); n != 5 {
		t.Errorf("ForeignMessages: got %d, want 5", n)
	}
}
