package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// olderProgram is the object store of the former layout.
func olderProgram(t testing.TB, l PatientLog) jetstream.ObjectStore {
	t.Helper()
	o, err := l.js.ObjectStore(Wait(t), l.cell.Stream())
	noError(t, err)
	return o
}

func pairName(at uint64) string { return fmt.Sprintf("%v-%016x-%08x", CellID(1), at, 7) }

func putPair(t testing.TB, o jetstream.ObjectStore, at uint64, exts ...string) {
	t.Helper()
	for _, ext := range exts {
		_, err := o.PutBytes(Wait(t), pairName(at)+ext, state(at))
		noError(t, err)
	}
}

// An upgrade finds snapshots of the former layout, and descriptions of many that were deleted.
func TestSlots_ReadFormerLayout(t *testing.T) {
	t.Parallel()
	const deleted = 50
	_, l := oneServerLog(t)
	o := olderProgram(t, l)
	for at := uint64(201); at <= 200+deleted; at++ {
		putPair(t, o, at, ".snap", ".sum")
		noError(t, o.Delete(Wait(t), pairName(at)+".snap"))
		noError(t, o.Delete(Wait(t), pairName(at)+".sum"))
	}
	putPair(t, o, 100, ".snap", ".sum")
	putPair(t, o, 200, ".snap", ".sum")
	putPair(t, o, 290, ".snap") // not read back
	wantPositions(t, l, 200, 100)
	wantLoad(t, l, 200, state(200))
	saveBytes(t, l, 300, state(300))
	wantPositions(t, l, 300, 200, 100)
	wantLoad(t, l, 100, state(100))
	saveBytes(t, l, 400, state(400))
	wantPositions(t, l, 400, 300)
	saveBytes(t, l, 500, state(500))
	wantTidy(t, l, 500, 400)

	// During the upgrade of the nodes an older program saves newer ones.
	putPair(t, o, 600, ".snap", ".sum")
	wantPositions(t, l, 600, 500, 400)
	saveBytes(t, l, 550, state(550))
	wantPositions(t, l, 600, 550, 500)
	wantLoad(t, l, 600, state(600))
	saveBytes(t, l, 700, state(700))
	wantPositions(t, l, 700, 600, 550)
	for at := uint64(800); at <= 1000; at += 100 {
		saveBytes(t, l, at, state(at))
	}
	wantTidy(t, l, 1000, 900)
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
