package nemesis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster"
	"handloom/cluster/internal/localnet"
	"handloom/world"
)

// Saves leave two snapshots, and each fault of the bucket is found.
func TestCheckBucket_FindsFaults(t *testing.T) {
	bucket := cell.Stream()
	for want, spoil := range map[string]func(ctx context.Context, js jetstream.JetStream) error{
		"": func(context.Context, jetstream.JetStream) error { return nil },
		" 0000000000000001-0000000000000001-00000000.snap": func(ctx context.Context, js jetstream.JetStream) error {
			o, err := js.ObjectStore(ctx, bucket)
			failIf(t, err)
			_, err = o.PutString(ctx, "0000000000000001-0000000000000001-00000000.snap", "")
			return err
		},
		"left: $O.HANDLOOM-0000000000000001.C.left400": func(ctx context.Context, js jetstream.JetStream) error {
			_, err := js.Publish(ctx, "$O."+bucket+".C.left400", []byte("state"))
			return err
		},
	} {
		t.Run(want, func(t *testing.T) {
			c, err := localnet.Start(t.Context(), t.TempDir(), 1, nil)
			failIf(t, err)
			defer c.Close()
			l, err := cluster.Open(t.Context(), cluster.URLs(c.URLs(0)), cell, cluster.Options{Replicas: 1})
			failIf(t, err)
			defer l.Close()
			conn, err := nats.Connect(c.URL(0))
			failIf(t, err)
			defer conn.Close()
			js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(2*time.Minute))
			failIf(t, err)
			f := newTestRun()
			f.Seed, f.JS = 1, js
			for at := range uint64(4) {
				save := func() error {
					return l.Save(t.Context(), at, func(w io.Writer) error {
						_, err := io.WriteString(w, "state")
						return err
					})
				}
				for err = save(); errors.Is(err, context.DeadlineExceeded); { // a busy machine
					err = save()
				}
				failIf(t, err)
			}
			failIf(t, spoil(t.Context(), js))
			failIf(t, f.checkBucket(t.Context(), l))
			found := f.Faults()
			if f.Bad() != (want != "") || !strings.Contains(strings.Join(found, "\n"), want) {
				t.Errorf("faults %q, want %q", found, want)
			}
		})
	}
}

// The error of the last save is kept.
func TestReceive_KeepsSaveError(t *testing.T) {
	f, n := newTestRun(), &localnet.Member{Name: "n0"}
	f.Nodes = []*localnet.Member{{Name: "n1", Index: 1}, n}
	for _, c := range [][2]string{{"", ""}, {"no room", "n0: no room"}, {"", ""}, {"gone", "n0: gone"}} {
		f.receive(n, "listen")
		line, err := json.Marshal(cluster.CellStatus{Cell: cell, World: world.Status{SaveErr: c[0]}})
		failIf(t, err)
		f.receive(n, string(line))
		if got := f.saveErr(); got != c[1] || f.Bad() {
			t.Errorf("after %q: %q, want %q", c[0], got, c[1])
		}
	}
}

// A node that has not seen the newest term does not count.
func TestTerm_IsTheNewestSinceItsFirstReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, begun := newTestRun(), time.Now()
		for i, term := range []uint32{1, 3, 2, 3} {
			n := &localnet.Member{Index: min(i, 2)}
			r.receive(n, "listen")
			r.receive(n, fmt.Sprintf(`{"Cell":%d,"World":{"term":%d}}`, cell, term))
			time.Sleep(time.Second)
		}
		if term, since := r.term(); term != 3 || since.Sub(begun) != time.Second {
			t.Errorf("got term %d after %v, want 3 after 1s", term, since.Sub(begun))
		}
	})
}

func failIf(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
