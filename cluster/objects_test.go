package cluster_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster"
)

// Any server may receive the read of a new snapshot; only the leader surely has it. A list
// comes from one server, which may lag.
func TestObjects_EverySaveSucceeds(t *testing.T) {
	if testing.Short() {
		t.Skip("200 snapshots on three servers take seconds")
	}
	const saves = 200
	c := startServers(t, 3, nil)
	l := openLog(t, cluster.URLs(c.URLs(0)), 1, cluster.Options{})
	failed, missed := 0, 0
	for at := range uint64(saves) {
		if err := l.Save(t.Context(), at, func(w io.Writer) error {
			_, err := fmt.Fprint(w, "state")
			return err
		}); err != nil {
			t.Log(err)
			failed++
			continue
		}
		if saved, err := l.Snapshots(t.Context()); err != nil || len(saved) == 0 || saved[0] != at {
			t.Log(saved, err)
			missed++
		}
	}
	if failed+missed > 0 {
		t.Errorf("of %d snapshots, %d are not saved and %d not listed", saves, failed, missed)
	}
}

func TestObjects_AreReadFromLeader(t *testing.T) {
	c, s := oneServer(t)
	js := operator(t, c)
	direct := func(cell cluster.CellID) bool {
		stream, err := js.Stream(t.Context(), "OBJ_"+cell.Stream())
		noError(t, err)
		return stream.CachedInfo().Config.AllowDirect
	}
	t.Run("new bucket", func(t *testing.T) {
		openLog(t, s, 1, cluster.Options{Replicas: 1})
		if direct(1) {
			t.Error("any replica answers")
		}
	})
	t.Run("bucket of another client", func(t *testing.T) {
		if _, err := js.CreateObjectStore(t.Context(), jetstream.ObjectStoreConfig{Bucket: cluster.CellID(2).Stream()}); err != nil {
			t.Fatal(err)
		}
		if !direct(2) {
			t.Fatal("the client makes buckets that the leader alone answers for: the mend is not needed")
		}
		l := openLog(t, s, 2, cluster.Options{Replicas: 1})
		if direct(2) {
			t.Error("any replica answers")
		}
		saveText(t, l, 0)
	})
}

// Metadata without a list entry simulates a short list.
func TestObjects_NamesFailsOnMissingObject(t *testing.T) {
	c := startServers(t, 1, nil)
	l := openLog(t, cluster.URLs(c.URLs(0)), 1, cluster.Options{Replicas: 1})
	saveText(t, l, 7)
	saved := func() ([]uint64, error) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return l.Snapshots(ctx)
	}
	if at, err := saved(); err != nil || !slices.Equal(at, []uint64{7}) {
		t.Fatal(at, err)
	}
	js, bucket := operator(t, c), cluster.CellID(1).Stream()
	subject := "$O." + bucket + ".M." + base64.URLEncoding.EncodeToString([]byte("other"))
	noError(t, errorOf(js.Publish(t.Context(), subject, []byte("no description"))))
	o, err := js.ObjectStore(t.Context(), bucket)
	if err == nil {
		_, err = o.PutString(t.Context(), "last", "state")
	}
	noError(t, err)
	if at, err := saved(); err == nil {
		t.Errorf("the list %v lacks an object, and is taken", at)
	}
}
