package cluster_test

import (
	"errors"
	"io/fs"
	"testing"

	"handloom/cluster"
)

func TestLog_ReportsShrunkStream(t *testing.T) {
	t.Parallel()
	c, s := oneServer(t)
	leader, follower := openLog(t, s, 1, alone(t)), openLog(t, s, 1, alone(t))
	fill(t, leader, 20)
	wantRecords(t, follower, 0, 20, record)

	js, name := operator(t, c), cluster.CellID(1).Stream()
	stream, err := js.Stream(t.Context(), name)
	noError(t, err)
	noError(t, js.DeleteStream(t.Context(), name))
	noError(t, cluster.Patiently(t.Context(), func() error { return errorOf(js.CreateStream(t.Context(), stream.CachedInfo().Config)) }))
	fill(t, openLog(t, s, 1, alone(t)), 10)

	for _, l := range []cluster.PatientLog{leader, follower} {
		_, append := cluster.AppendTo(t.Context(), l, 20, record(21))
		_, tail := l.Tail(t.Context())
		read := l.Read(t.Context(), 20, func(uint64, []byte) error { return errEnough })
		for _, err := range []error{append, tail, read} {
			if !errors.Is(err, cluster.ErrBehind) || !errors.Is(err, fs.ErrClosed) {
				t.Errorf("want ErrBehind, for good: %v", err)
			}
		}
	}
	// Earlier positions in a new Log are valid.
	again := openLog(t, s, 1, alone(t))
	wantRecords(t, again, 0, 10, record)
	wantRecords(t, again, 4, 5, record)
	fill(t, again, 12)
	wantTail(t, again, 12)
}

// An append may be newer than the leader's answer.
func TestTail_AllowsConcurrentAppends(t *testing.T) {
	t.Parallel()
	l := openLog(t, cluster.Embedded(t.TempDir()), 1, alone(t))
	failed, done := make(chan error, 1), make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				failed <- nil
				return
			default:
			}
			if _, err := l.Tail(t.Context()); err != nil {
				failed <- err
				return
			}
		}
	}()
	last := uint64(300)
	if testing.Short() {
		last = 100
	}
	fill(t, l, last)
	close(done)
	noError(t, <-failed)
}
