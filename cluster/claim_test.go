package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A cut lets some requests pass, as a process that is killed. lost: the last one arrives.
type cut struct {
	mutex sync.Mutex
	left  int
	lost  bool
	kill  func()
}

var errCut = errors.New("killed")

func (c *cut) do(f func() error) error {
	c.mutex.Lock()
	c.left--
	left := c.left
	c.mutex.Unlock()
	switch {
	case left > 0:
		return f()
	case left == 0 && c.lost:
		_ = f()
	}
	c.kill()
	return errCut
}

type cutJetStream struct {
	jetstream.JetStream
	*cut
}

func (c cutJetStream) PublishMsg(ctx context.Context, m *nats.Msg, o ...jetstream.PublishOpt) (ack *jetstream.PubAck, err error) {
	err = c.do(func() (err error) { ack, err = c.JetStream.PublishMsg(ctx, m, o...); return err })
	return ack, err
}

func (c cutJetStream) PublishMsgAsync(m *nats.Msg, o ...jetstream.PublishOpt) (ack jetstream.PubAckFuture, err error) {
	err = c.do(func() (err error) { ack, err = c.JetStream.PublishMsgAsync(m, o...); return err })
	return ack, err
}

type cutStream struct {
	jetstream.Stream
	*cut
}

func (c cutStream) Info(ctx context.Context, o ...jetstream.StreamInfoOpt) (i *jetstream.StreamInfo, err error) {
	err = c.do(func() (err error) { i, err = c.Stream.Info(ctx, o...); return err })
	return i, err
}

func (c cutStream) GetMsg(ctx context.Context, seq uint64, o ...jetstream.GetMsgOpt) (m *jetstream.RawStreamMsg, err error) {
	err = c.do(func() (err error) { m, err = c.Stream.GetMsg(ctx, seq, o...); return err })
	return m, err
}

func (c cutStream) GetLastMsgForSubject(ctx context.Context, subject string) (m *jetstream.RawStreamMsg, err error) {
	err = c.do(func() (err error) { m, err = c.Stream.GetLastMsgForSubject(ctx, subject); return err })
	return m, err
}

func (c cutStream) Purge(ctx context.Context, o ...jetstream.StreamPurgeOpt) error {
	return c.do(func() error { return c.Stream.Purge(ctx, o...) })
}

// cutSave saves until the nth request, and reports whether it was cut.
func cutSave(t testing.TB, l *Log, at uint64, b []byte, n int, lost bool) bool {
	t.Helper()
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	whole := l.saved
	defer func() { l.saved = whole }()
	c := &cut{left: n, lost: lost, kill: kill}
	s, bucket := *whole.(*slots), *whole.(*slots).bucket
	bucket.js, bucket.stream = cutJetStream{bucket.js, c}, cutStream{bucket.stream, c}
	s.bucket, s.staleLimit, l.saved = &bucket, time.Millisecond, &s
	_ = trySave(ctx, l, at, b)
	return c.left <= 0
}

// A node is killed at each request of a save. The two older snapshots stay until the new one is
// whole, and the next save removes the rest.
func TestSlots_KillLeavesNothing(t *testing.T) {
	_, l := oneServerLog(t)
	l.saved.(*slots).staleLimit = time.Millisecond
	big := make([]byte, 2*chunkBytes+1)
	at, cuts := uint64(2), 0
	saveBytes(t, l, 1, state(1))
	saveBytes(t, l, 2, state(2))
	for _, lost := range []bool{false, true} {
		for n := 1; cutSave(t, l, at+1, big, n, lost); n++ {
			cuts++
			whole, err := l.Snapshots(t.Context())
			if err != nil || !slices.Equal(whole, []uint64{at, at - 1}) && !slices.Equal(whole, []uint64{at + 1, at}) {
				t.Fatalf("killed at request %d: snapshots %v, %v, want %d", n, whole, err, at)
			}
			for _, at := range whole {
				_, err := load(l, at)
				noError(t, err)
			}
			saveBytes(t, l, at+2, state(at+2))
			saveBytes(t, l, at+3, state(at+3))
			at += 3
			if wantTidy(t, l, at, at-1); t.Failed() {
				t.Fatalf("after a kill at request %d, lost %t", n, lost)
			}
		}
		at++ // of the save that was not cut
	}
	if cuts < 40 {
		t.Errorf("%d cuts, want two at each of 20 requests", cuts)
	}
}
