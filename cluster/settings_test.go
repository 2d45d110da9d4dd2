package cluster

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Somebody changes the stream while nodes run, and restores it.
func TestAppend_RefusesChangedSettings(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *jetstream.StreamConfig){
		"max_msgs":     func(c *jetstream.StreamConfig) { c.MaxMsgs, c.Discard = 5, jetstream.DiscardOld },
		"allow_direct": func(c *jetstream.StreamConfig) { c.AllowDirect = true },
		"retention":    func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy },
		"republish":    func(c *jetstream.StreamConfig) { c.RePublish = &jetstream.RePublish{Source: ">", Destination: "x.>"} },
		"sources":      func(c *jetstream.StreamConfig) { c.Sources = []*jetstream.StreamSource{{Name: "other"}} },
	} {
		t.Run(name, func(t *testing.T) {
			c, l := oneServerLog(t)
			follower := openBucket(t, c)
			l.watch.interval = 0
			saveBytes(t, l, 1, nil)
			saveBytes(t, l, 2, nil)
			at := uint64(0)
			appendNext := func() (err error) {
				if _, err = AppendTo(t.Context(), l, at, []byte("record")); err == nil {
					at++
				}
				return err
			}
			for at < 3 {
				noError(t, appendNext())
			}
			config := l.settings()
			config.Subjects = slices.Clone(config.Subjects)
			change(&config)
			setStream(t, l, config)
			err := error(nil)
			for begin := time.Now(); err == nil && time.Since(begin) < Patience; {
				err = appendNext()
			}
			wantSettings := func(do string, err error) {
				t.Helper()
				if !isWrongSettings(err) || !strings.Contains(err.Error(), name+": got") {
					t.Errorf("%s: %v, want ErrSettings with %s", do, err, name)
				}
			}
			wantSettings("Append", err)
			wantSettings("Append again", appendNext())
			wantSettings("Trim of a follower", follower.Trim(t.Context(), 1))
			if tail, err := follower.Tail(t.Context()); err != nil || tail != at && name != "retention" { // nobody has interest, so the server drops all
				t.Errorf("Tail: %d, %v, want %d", tail, err, at)
			}
			setStream(t, l, l.settings())
			noError(t, appendNext())
			noError(t, follower.Trim(t.Context(), 1))
		})
	}
}

func setStream(t testing.TB, l PatientLog, c jetstream.StreamConfig) {
	t.Helper()
	_, err := l.conn.js.UpdateStream(Wait(t), c)
	noError(t, err)
}

// Close ends a comparison and waits for it, also if the answer is slow.
func TestClose_WaitsForComparison(t *testing.T) {
	t.Parallel()
	_, l := oneServerLog(t)
	slow := &slowStream{Stream: l.stream, asked: make(chan struct{})}
	l.stream = slow
	l.watch.mutex.Lock()
	l.watch.at = time.Time{} // due
	l.watch.mutex.Unlock()
	noError(t, l.wrongSettings(t.Context()))
	<-slow.asked
	noError(t, l.Close())
	if !slow.answered.Load() {
		t.Error("the comparison runs after Close")
	}
	l.watch.at = time.Time{}
	_ = l.wrongSettings(t.Context()) // starts none: another would close asked again
	l.watch.close()
}

// A slowStream answers some time after the request ends.
type slowStream struct {
	jetstream.Stream
	asked    chan struct{}
	answered atomic.Bool
}

func (s *slowStream) Info(ctx context.Context, o ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	close(s.asked)
	<-ctx.Done()
	time.Sleep(20 * time.Millisecond) // a Close that does not wait returns before
	s.answered.Store(true)
	return s.Stream.Info(ctx, o...)
}
