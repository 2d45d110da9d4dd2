package cluster

import (
	"context"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

type led struct {
	jetstream.Stream
	info jetstream.ClusterInfo
}

func (s led) Info(context.Context, ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	return &jetstream.StreamInfo{Cluster: &s.info}, nil
}

// The leader might hand over to a dead server.
func TestStepDown_FailsWhileFollowersLag(t *testing.T) {
	t.Parallel()
	l := openFilled(t, 0)
	l.o.Replicas = 3
	for _, r := range []jetstream.PeerInfo{{Name: "b", Current: true, Offline: true}, {Name: "b"}} {
		l.stream = led{info: jetstream.ClusterInfo{Leader: l.conn.ConnectedServerName(), Replicas: []*jetstream.PeerInfo{{Name: "a", Current: true}, &r}}}
		if did, err := l.StepDown(t.Context()); did || err == nil || !strings.Contains(err.Error(), `stays: server "b"`) {
			t.Errorf("%+v: %t, %v", r, did, err)
		}
	}
}
