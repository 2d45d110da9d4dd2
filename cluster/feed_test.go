package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// stalled is what a consumer gives whose server has no more of the stream.
type stalled struct{ jetstream.MessagesContext }

func (stalled) Next(...jetstream.NextOpt) (jetstream.Msg, error) {
	time.Sleep(quietTime)
	return nil, context.DeadlineExceeded
}

func (stalled) Stop() {}

// A consumer may live and send nothing: its server hangs behind the others. A reader asks
// the leader and leaves it.
func TestAConsumerThatSendsNothingIsLeft(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	l, err := Open(ctx, Embedded(t.TempDir()), 1, Options{Snapshots: Folder(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const records = 4 * fewMessages
	for n := range uint64(records) {
		if _, err := l.Append(ctx, n, fmt.Append(nil, n)); err != nil {
			t.Fatal(err)
		}
	}
	l.kept = &feed{messages: stalled{}, heard: time.Now()}
	err = l.Read(ctx, 0, func(at uint64, _ []byte) error {
		if at == records {
			return errFound
		}
		return nil
	})
	if err != errFound {
		t.Error(err)
	}
}
