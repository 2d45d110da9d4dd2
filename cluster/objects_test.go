package cluster_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster"
)

// Any server may get the request for a new snapshot, and only the leader is sure to have it.
// A list comes from one server, which may miss the newest snapshot for a moment.
func TestObjects_EverySaveSucceeds(t *testing.T) {
	if testing.Short() {
		t.Skip("200 snapshots on three servers take seconds")
	}
	const saves = 200
	c := startServers(t, 3, nil)
	l := openLog(t, cluster.URLs(c.URLs(0)), 1, cluster.Options{})
	failed, late := 0, 0
	for at := range uint64(saves) {
		if err := l.Save(t.Context(), at, func(w io.Writer) error {
			_, err := fmt.Fprint(w, "state")
			return err
		}); err != nil {
			t.Log(err)
			failed++
			continue
		}
		for {
			saved, err := l.Saved(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(saved) > 0 && saved[0] == at {
				break
			}
			late++
		}
	}
	if failed > 0 {
		t.Errorf("%d of %d snapshots were not saved", failed, saves)
	}
	t.Logf("%d lists missed the newest snapshot", late)
}

func TestObjects_AreReadFromTheLeader(t *testing.T) {
	c := startServers(t, 1, nil)
	js, s := operator(t, c), cluster.URLs(c.URLs(0))
	direct := func(cell cluster.CellID) bool {
		stream, err := js.Stream(t.Context(), "OBJ_"+cell.Stream())
		if err != nil {
			t.Fatal(err)
		}
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
