package cluster

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster/internal/localnet"
)

// A dying server ends its consumer of an object silently. Read fails after stallLimit.
func TestObjects_ReadEndsWhenServersDie(t *testing.T) {
	c, err := localnet.Start(t.Context(), t.TempDir(), 1, nil)
	noError(t, err)
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	l, err := Open(t.Context(), URLs(c.URLs(0)), 1, Options{Replicas: 1})
	noError(t, err)
	defer l.Close()
	o := l.blobs.(objects)
	o.stallLimit = time.Second
	const size = 32 << 20 // more than the server's prefetch of 2 MB
	noError(t, o.Put(t.Context(), "a.snap", bytes.NewReader(make([]byte, size))))
	r, err := o.Get(t.Context(), "a.snap")
	noError(t, err)
	if _, err := io.ReadFull(r, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	c.Stop(0)
	ended := make(chan error, 1)
	go func() {
		n, err := io.Copy(io.Discard, r)
		if n == size-1 {
			err = errFound
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil || err == errFound {
			t.Errorf("Read without a server: %v, want an error before the end", err)
		}
		_ = r.Close()
	case <-time.After(time.Minute):
		t.Error("Read waits for a server that is gone") // Close would wait for Read
	}
}

type damagedObject struct{ jetstream.ObjectResult }

func (damagedObject) Read([]byte) (int, error) { return 0, jetstream.ErrDigestMismatch }

func TestObjects_ReadReportsDamage(t *testing.T) {
	_, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := io.ReadAll(&object{damagedObject{}, cancel}); !errors.Is(err, ErrCorrupt) || !errors.Is(err, jetstream.ErrDigestMismatch) {
		t.Errorf("%v, want ErrCorrupt", err)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
