package cluster

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster/cells"
	"handloom/world"
)

// A receiver only receives.
type receiver struct {
	outbox
	id CellID
}

func (r receiver) Run(ctx context.Context, _ *world.World, t cells.Transport) error {
	return t.Receive(ctx, r.id, "mail", func(context.Context, CellID, [][]byte) error { return nil })
}

// After a run of all parts the servers have the streams of the table, with its settings, although an
// older program has created three of them. The disk is too small for reservations of mailboxes.
func TestStreams_AreDeclared(t *testing.T) {
	t.Parallel()
	c := StartServers(t, 1, func(_ int, o *server.Options) { o.JetStreamMaxStore = 1 << 30 })
	s := URLs(c.URLs(0))
	js := dial(t, s).conn.js
	_, nodes := js.CreateKeyValue(Wait(t), jetstream.KeyValueConfig{Bucket: bucketName})
	_, snapshots := js.CreateObjectStore(Wait(t), jetstream.ObjectStoreConfig{Bucket: CellID(1).Stream()})
	former := mailStream.settings(1, 1)
	former.MaxBytes = formerMailBytes
	_, mail := js.CreateStream(Wait(t), former)
	noError(t, errors.Join(nodes, snapshots, mail))
	n := startNode(t, s, Host{Name: "a", Replicas: 1, Open: func(ctx context.Context, id CellID) (*Cell, error) {
		c, err := openBanks(Options{})(ctx, id)
		c.Outbox = receiver{id: id}
		return c, err
	}})
	want := make(map[string]jetstream.StreamConfig)
	for id := range CellID(5) {
		place(t, n.Node, id+1, 1)
		for kind := range streams {
			c := streamKind(kind).settings(id+1, 1)
			want[c.Name] = c
		}
	}
	for ctx := Wait(t); ; noError(t, pause(ctx, lastRetry)) {
		missing, all, wrong := maps.Clone(want), js.ListStreams(ctx), error(nil)
		for info := range all.Info() {
			wrong = cmp.Or(wrong, checkSettings(missing[info.Config.Name], info.Config))
			delete(missing, info.Config.Name)
		}
		if len(missing) == 0 && cmp.Or(wrong, all.Err()) == nil {
			return
		}
		t.Log(wrong, all.Err(), len(missing))
	}
}
