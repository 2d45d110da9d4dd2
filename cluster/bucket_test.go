package cluster

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// An object that another program puts into the bucket does not fail saves.
func TestSlots_IgnoreOtherObjects(t *testing.T) {
	t.Parallel()
	_, l := oneServerLog(t)
	_, err := l.js.Publish(Wait(t), l.saved.(*slots).meta("notes"), []byte("{}"))
	noError(t, err)
	saveBytes(t, l, 1, state(1))
	saveBytes(t, l, 2, state(2))
	wantPositions(t, l, 2, 1)
}

// The leader answers all reads, also in a bucket that another client created.
func TestBucket_DisablesDirectGet(t *testing.T) {
	t.Parallel()
	c, l := oneServerLog(t)
	_, err := l.js.CreateObjectStore(Wait(t), jetstream.ObjectStoreConfig{Bucket: CellID(2).Stream()})
	noError(t, err)
	for _, cell := range []CellID{1, 2} {
		l, err := TryOpen(t, URLs(c.URLs(0)), cell, Options{Replicas: 1})
		noError(t, err)
		if info, err := l.saved.(*slots).stream.Info(Wait(t)); err != nil || info.Config.AllowDirect {
			t.Errorf("cell %v: any replica answers, %v", cell, err)
		}
		noError(t, l.Close())
	}
}

// A replica that lags would tell a client that a cell just placed does not exist.
func TestJoin_DisablesDirectGet(t *testing.T) {
	t.Parallel()
	_, l := oneServerLog(t)
	_, err := l.js.CreateKeyValue(Wait(t), jetstream.KeyValueConfig{Bucket: bucketName}) // by an older program
	noError(t, err)
	n := startNode(t, Servers{shared: l.conn}, Host{Name: "a", Replicas: 1})
	status, err := n.bucket.Status(Wait(t))
	noError(t, err)
	if status.(*jetstream.KeyValueBucketStatus).StreamInfo().Config.AllowDirect {
		t.Error("any replica answers")
	}
	place(t, n.Node, 1, 1)
	if _, err := n.bucket.Get(Wait(t), cellPrefix+CellID(1).String()); err != nil {
		t.Error(err)
	}
}

// Other settings are refused by Open, and noticed while the Log is open.
func TestBucket_RefusesSettings(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *jetstream.StreamConfig){
		"max_age":           func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour },
		"max_msgs":          func(c *jetstream.StreamConfig) { c.MaxMsgs = 1000 },
		"discard":           func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld },
		"allow_rollup_hdrs": func(c *jetstream.StreamConfig) { c.AllowRollup = false },
		"republish":         func(c *jetstream.StreamConfig) { c.RePublish = &jetstream.RePublish{Source: ">", Destination: "x.>"} },
		"subjects":          func(c *jetstream.StreamConfig) { c.Subjects = append(c.Subjects, "more") },
		"allow_direct":      func(c *jetstream.StreamConfig) { c.AllowDirect = true },
	} {
		t.Run(name, func(t *testing.T) {
			c, l := oneServerLog(t)
			saveBytes(t, l, 1, state(1))
			config := l.saved.(*slots).settings
			config.Subjects = slices.Clone(config.Subjects)
			change(&config)
			_, err := l.js.UpdateStream(Wait(t), config)
			noError(t, err)
			wantSettings := func(do string, err error) {
				t.Helper()
				if !isWrongSettings(err) || !strings.Contains(err.Error(), name+": got") {
					t.Errorf("%s: %v, want ErrSettings with %s", do, err, name)
				}
			}
			_, err = l.Snapshots(t.Context())
			wantSettings("Snapshots", err)
			wantSettings("Save", trySave(t.Context(), l, 2, nil))
			if name == "allow_direct" {
				return // Open corrects it
			}
			_, err = TryOpen(t, URLs(c.URLs(0)), 1, Options{Replicas: 1})
			wantSettings("Open", err)
		})
	}
}
