package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/internal/check"
)

// StepDown has the stream leader hand over to another server, if it is the one that this Log
// is connected to, and reports whether it did. It is for an owner whose process has a server
// in it: were both lost together, it would take an election to go on.
//
// Appends wait while the new leader takes over, which takes some milliseconds. A leader
// whose followers are not all up to date stays, with an error: it might hand over to one that
// has just died, and appends would wait for an election. Try again later.
func (l *Log) StepDown(ctx context.Context) (did bool, err error) {
	check.Given(ctx != nil, "cluster: StepDown", "context")
	ctx, cancel := context.WithTimeout(ctx, 5*requestTime)
	defer cancel()
	info, err := l.stream.Info(ctx)
	if err != nil {
		return false, fmt.Errorf("cluster: the stream leader: %w", err)
	}
	if info.Cluster == nil || info.Cluster.Leader != l.conn.ConnectedServerName() || l.o.Replicas == 1 {
		return false, nil
	}
	for _, r := range info.Cluster.Replicas {
		if r.Offline || !r.Current {
			return false, fmt.Errorf("cluster: the stream leader stays: server %q is behind, or away", r.Name)
		}
	}
	answer, err := l.conn.RequestWithContext(ctx, jetstream.DefaultAPIPrefix+"STREAM.LEADER.STEPDOWN."+l.cell.Stream(), nil)
	if err != nil {
		return false, fmt.Errorf("cluster: the stream leader: %w", err)
	}
	var response struct{ Error *jetstream.APIError }
	if err := json.Unmarshal(answer.Data, &response); err != nil {
		return false, fmt.Errorf("cluster: the stream leader: %w", err)
	}
	if response.Error != nil {
		return false, fmt.Errorf("cluster: the stream leader: %w", response.Error)
	}
	return true, nil
}
