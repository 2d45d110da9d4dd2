package cluster

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster/cells"
	"handloom/cluster/internal/localnet"
	"handloom/store"
	"handloom/world"
)

// Patience limits every wait of a test for servers: other programs may keep the machine busy.
const Patience = 2 * time.Minute

// Patiently repeats call while servers give no answer, for [Patience]. Most calls of this package
// fail after one to ten seconds without an answer, so a test that does not repeat them fails by
// chance.
func Patiently(ctx context.Context, call func() error) error {
	for late := time.Now().Add(Patience); ; time.Sleep(firstRetry) {
		err := call()
		if !isBusy(err) || ctx.Err() != nil || time.Now().After(late) {
			return err
		}
	}
}

const unavailable = 10008 // JetStream has no leader

// isBusy reports whether err only says that servers, or their answers, were slow.
func isBusy(err error) bool {
	var api *jetstream.APIError
	return !errors.Is(err, fs.ErrClosed) && (errors.As(err, &api) && (api.ErrorCode == unavailable || api.ErrorCode == errStore) || slices.ContainsFunc([]error{
		context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, jetstream.ErrNoStreamResponse, // elections
		nats.ErrReconnectBufExceeded, nats.ErrDisconnected, nats.ErrStaleConnection, // late replies to pings
		errNoReply, cells.ErrUnreachable, // no leader
	}, func(busy error) bool { return errors.Is(err, busy) }))
}

// CloseWorld closes a world as a program does at its end. While servers are slow or elect, the
// outcome of its last record or snapshot may be unknown.
func CloseWorld(w *world.World) error {
	err := w.Close(context.Background())
	if errors.Is(err, store.ErrUncertain) || isBusy(err) {
		return nil
	}
	return err
}

// KillWorld closes a world without a snapshot. Close waits a second for a tick or an append, and
// the second Close for its end.
func KillWorld(w *world.World) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if errors.Is(w.Close(ended), context.Canceled) {
		_ = w.Close(context.Background())
	}
}

// Try is [Patiently] for a call with a result.
func Try[V any](ctx context.Context, call func() (V, error)) (v V, err error) {
	err = Patiently(ctx, func() error {
		v, err = call()
		return err
	})
	return v, err
}

// Wait returns a context that ends with a test, or after [Patience].
func Wait(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	t.Cleanup(cancel)
	return ctx
}

// StartServers starts servers, which end with the test. change may be nil.
func StartServers(t testing.TB, n int, change func(i int, o *server.Options)) *localnet.Cluster {
	t.Helper()
	c, err := localnet.Start(Wait(t), t.TempDir(), n, change)
	noError(t, err)
	t.Cleanup(func() { noError(t, c.Close()) })
	return c
}

// WaitUntil waits for a condition, at most [Patience].
func WaitUntil(t testing.TB, what string, is func() bool) {
	t.Helper()
	for begin := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > Patience {
			t.Fatalf("not in %v: %s", Patience, what)
		}
	}
}

// A PatientLog is a Log of a test. Its methods repeat those of Log by [Patiently]. Only worlds use
// the Log itself, because they repeat on their own.
type PatientLog struct{ *Log }

// TryOpen is Open for tests, which open a Log by nothing else. The test closes the Log at its end.
func TryOpen(t testing.TB, s Servers, cell CellID, o Options) (PatientLog, error) {
	l, err := Try(t.Context(), func() (*Log, error) { return Open(t.Context(), s, cell, o) })
	if err == nil {
		t.Cleanup(func() { _ = l.Close() })
	}
	return PatientLog{l}, err
}

// OpenPatiently is TryOpen of a Log that must open.
func OpenPatiently(t testing.TB, s Servers, cell CellID, o Options) PatientLog {
	t.Helper()
	l, err := TryOpen(t, s, cell, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TryReseed is Reseed for tests. A repetition finds all done if only the last answer was late.
func TryReseed(t testing.TB, s Servers, cell CellID, o Options, state io.ReadSeeker) error {
	tries := 0
	err := Patiently(t.Context(), func() error {
		tries++
		return Reseed(t.Context(), s, cell, o, state)
	})
	if tries > 1 && errors.Is(err, errComplete) {
		return nil
	}
	return err
}

// AppendTo is Log.Append for tests, which append by nothing else. A repetition finds rec in place
// if the servers have it.
func AppendTo(ctx context.Context, l PatientLog, prev uint64, rec []byte) (at uint64, err error) {
	return Try(ctx, func() (uint64, error) { return l.Append(ctx, prev, rec) })
}

func (l PatientLog) Tail(ctx context.Context) (at uint64, err error) {
	return Try(ctx, func() (uint64, error) { return l.Log.Tail(ctx) })
}

func (l PatientLog) Save(ctx context.Context, at uint64, write func(w io.Writer) error) error {
	return Patiently(ctx, func() error { return l.Log.Save(ctx, at, write) })
}

func (l PatientLog) Snapshots(ctx context.Context) (at []uint64, err error) {
	return Try(ctx, func() ([]uint64, error) { return l.Log.Snapshots(ctx) })
}

func (l PatientLog) Load(ctx context.Context, at uint64) (r io.ReadCloser, err error) {
	return Try(ctx, func() (io.ReadCloser, error) { return l.Log.Load(ctx, at) })
}

func (l PatientLog) Reject(ctx context.Context, at uint64) error {
	return Patiently(ctx, func() error { return l.Log.Reject(ctx, at) })
}

func (l PatientLog) StepDown(ctx context.Context) (did bool, err error) {
	return Try(ctx, func() (bool, error) { return l.Log.StepDown(ctx) })
}

func (l PatientLog) Trim(ctx context.Context, through uint64) error {
	return Patiently(ctx, func() error { return l.Log.Trim(ctx, through) })
}
