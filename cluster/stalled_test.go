package cluster

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster/internal/localnet"
)

// A request without an answer is repeated until stallLimit.
func TestObjects_ReadEndsWhenServersDie(t *testing.T) {
	c, l := oneServerLog(t)
	o := objectsOf(l)
	saveBytes(t, l, 1, make([]byte, 3*chunkBytes))
	r, err := l.Load(t.Context(), 1)
	noError(t, err)
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	o.stallLimit = time.Second
	c.Stop(0)
	if n, err := io.Copy(io.Discard, r); err == nil || n >= 3*chunkBytes-1 {
		t.Errorf("read %d bytes without a server: %v", n, err)
	}
}

func oneServerLog(t testing.TB) (*localnet.Cluster, PatientLog) {
	t.Helper()
	c := StartServers(t, 1, nil)
	return c, openBucket(t, c)
}

// openBucket opens a Log with snapshots in a bucket.
func openBucket(t testing.TB, c *localnet.Cluster) PatientLog { return openBucketAt(t, c, 0) }

// openBucketAt connects to a server first.
func openBucketAt(t testing.TB, c *localnet.Cluster, server int) PatientLog {
	t.Helper()
	l := OpenPatiently(t, URLs(c.URLs(server)), 1, Options{Replicas: c.Len()})
	objectsOf(l).stallLimit = Patience
	return l
}

func saveBytes(t testing.TB, l PatientLog, at uint64, b []byte) {
	t.Helper()
	noError(t, trySave(t.Context(), l, at, b))
}

func trySave(ctx context.Context, l PatientLog, at uint64, b []byte) error {
	return l.Save(ctx, at, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

func state(at uint64) []byte { return fmt.Append(nil, "state ", at) }

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lateJetStream publishes the first message without an answer.
type lateJetStream struct {
	jetstream.JetStream
	late *atomic.Bool
}

func (j lateJetStream) Publish(ctx context.Context, subject string, b []byte, o ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	ack, err := j.JetStream.Publish(ctx, subject, b, o...)
	if err == nil && j.late.CompareAndSwap(false, true) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return ack, err
}

func TestReseed_RepeatsMessageWithLateAnswer(t *testing.T) {
	t.Parallel()
	_, l := oneServerLog(t)
	l.conn.js = lateJetStream{l.conn.js, new(atomic.Bool)}
	first := []byte("first")
	if seq, err := l.sendToNew(t.Context(), 0, first); seq != 1 || err != nil {
		t.Errorf("got sequence %d, %v, want 1", seq, err)
	}
	if seq, err := l.sendToNew(t.Context(), 0, []byte("other")); !refused(err) {
		t.Errorf("another message: got sequence %d, %v, want a refusal", seq, err)
	}
}
