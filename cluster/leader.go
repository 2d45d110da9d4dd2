package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/internal/check"
)

// StepDown makes the stream leader resign if this Log is connected to it, and reports whether
// it did. Call it on the leading node if its process contains a server, because losing both at
// once costs an election.
//
// Appends wait some milliseconds for the new stream leader. StepDown fails while another server
// lags, because the new stream leader might be dead. Try again later.
func (l *Log) StepDown(ctx context.Context) (did bool, err error) {
	check.Given(ctx != nil, "cluster: StepDown", "context")
	ctx, cancel := context.WithTimeout(ctx, 5*requestTime)
	defer cancel()
	info, err := l.info(ctx)
	if err != nil {
		return false, fmt.Errorf("cluster: the stream leader: %w", err)
	}
	if info.Cluster == nil || info.Cluster.Leader != l.conn.ConnectedServerName() || l.o.Replicas == 1 {
		return false, nil
	}
	for _, r := range info.Cluster.Replicas {
		if r.Offline || !r.Current {
			return false, fmt.Errorf("cluster: the stream leader stays: server %q lags or is offline", r.Name)
		}
	}
	var response struct{ Error *jetstream.APIError }
	answer, err := l.conn.RequestWithContext(ctx, jetstream.DefaultAPIPrefix+"STREAM.LEADER.STEPDOWN."+l.cell.Stream(), nil)
	if err == nil {
		err = json.Unmarshal(answer.Data, &response)
	}
	if err == nil && response.Error != nil {
		err = response.Error
	}
	if err != nil {
		return false, fmt.Errorf("cluster: the stream leader: %w", err)
	}
	return true, nil
}
