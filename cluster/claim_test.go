package cluster

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A cut lets some requests pass, as a process that is killed.
type cut struct {
	cutMode
	mutex sync.Mutex
	left  int
	kill  func()
}

type cutMode struct {
	lost  bool // the failed request arrives
	alive bool // later requests pass, as after a cancel
}

var errCut = errors.New("killed")

func (c *cut) do(f func() error) error {
	c.mutex.Lock()
	c.left--
	left := c.left
	c.mutex.Unlock()
	switch {
	case left > 0, left < 0 && c.alive:
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
func cutSave(t testing.TB, l PatientLog, at uint64, b []byte, n int, mode cutMode) bool {
	t.Helper()
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	whole := l.saved
	defer func() { l.saved = whole }()
	c := &cut{left: n, cutMode: mode, kill: kill}
	s, bucket := *whole.(*slots), *whole.(*slots).bucket
	bucket.js, bucket.stream = cutJetStream{bucket.js, c}, cutStream{bucket.stream, c}
	s.bucket, s.staleLimit, l.saved = &bucket, time.Millisecond, &s
	if err := trySave(ctx, l, at, b); mode.alive && err != nil {
		v, err := whole.(*slots).look(t.Context())
		if noError(t, err); (&claim{view: v}).claimed() >= 0 {
			t.Errorf("canceled at request %d, lost %t: a claim stays", n, mode.lost)
		}
	}
	return c.left <= 0
}

// A node is killed, or its save canceled, at each request of a save. The two older snapshots stay
// until the new one is whole, and the next save removes the rest.
func TestSlots_KillLeavesNothing(t *testing.T) {
	t.Parallel()
	_, l := oneServerLog(t)
	saved := l.saved.(*slots)
	saved.staleLimit, saved.releaseLimit = time.Millisecond, time.Hour // a busy machine releases, too
	big := make([]byte, 2*chunkBytes+1)
	at, cuts, step := uint64(2), 0, 1
	if testing.Short() {
		step = 5 // other requests for each mode
	}
	saveBytes(t, l, 1, state(1))
	saveBytes(t, l, 2, state(2))
	for i, mode := range []cutMode{{}, {lost: true}, {alive: true}, {lost: true, alive: true}} {
		for n := 1 + i%step; cutSave(t, l, at+1, big, n, mode); n += step {
			cuts++
			whole, err := l.Snapshots(t.Context())
			if err != nil || !slices.Equal(whole, []uint64{at, at - 1}) && !slices.Equal(whole, []uint64{at + 1, at}) {
				t.Fatalf("%+v at request %d: snapshots %v, %v, want %d", mode, n, whole, err, at)
			}
			for _, at := range whole {
				if _, err := load(l, at); err != nil {
					t.Fatalf("%+v at request %d: snapshot %d: %v", mode, n, at, err)
				}
			}
			saveBytes(t, l, at+2, state(at+2))
			saveBytes(t, l, at+3, state(at+3))
			at += 3
			if wantTidy(t, l, at, at-1); t.Failed() {
				t.Fatalf("%+v at request %d", mode, n)
			}
		}
		at++ // of the save that was not cut
	}
	if cuts < 80/step {
		t.Errorf("%d cuts, want %d", cuts, 80/step)
	}
}

// The answer to the last put is lost, and another node claims the slot before the next look.
func TestSlots_SaveFindsSnapshotWithClaim(t *testing.T) {
	t.Parallel()
	_, l := oneServerLog(t)
	saveBytes(t, l, 1, state(1))
	saveBytes(t, l, 2, state(2))
	whole := l.saved.(*slots)
	other := &claim{slots: whole, at: 3, id: "other", damaged: l.isDamaged}
	s, bucket := *whole, *whole.bucket
	const lastPut = 3 // after the claim and a chunk
	bucket.js = cutJetStream{bucket.js, &cut{left: lastPut, cutMode: cutMode{lost: true, alive: true}, kill: func() {
		if err := other.take(t.Context()); err != nil || other.slot().info.Metadata[recordKey] != "3" {
			t.Errorf("the other claim: %v, of %v", err, other.slot().info.Metadata)
		}
	}}}
	s.bucket, l.saved = &bucket, &s
	saveBytes(t, l, 3, state(3))
	wantLoad(t, l, 3, state(3))
	other.release(t.Context())
	wantTidy(t, l, 3, 2)
}

// The snapshot is stored, but the node knows nothing of it, and a lagging server answers with the
// description before the claim, or with the claim.
func TestSlots_ReleaseKeepsStoredSnapshot(t *testing.T) {
	t.Parallel()
	for _, claimed := range []bool{false, true} {
		_, l := oneServerLog(t)
		saveBytes(t, l, 1, state(1))
		saveBytes(t, l, 2, state(2))
		s := l.saved.(*slots)
		lagging := laggingStream{Stream: s.stream, subject: s.meta("a")}
		c := claim{slots: s, at: 3, id: "new", damaged: l.isDamaged}
		keepOld := func() (err error) {
			lagging.old, err = s.stream.GetLastMsgForSubject(Wait(t), lagging.subject)
			return err
		}
		noError(t, keepOld())
		noError(t, c.take(t.Context()))
		if claimed {
			noError(t, keepOld())
		}
		unaware := c
		noError(t, c.store(t.Context(), func(w io.Writer) error { _, err := w.Write(state(3)); return err }))
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if unaware.lookAgain(canceled) == nil {
			t.Error("a canceled look succeeded")
		}
		s.stream = lagging
		unaware.release(t.Context())
		s.stream = lagging.Stream
		wantLoad(t, l, 3, state(3))
	}
}
