package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// minDuplicates is the shortest window of duplicate detection, which messages without IDs do
// not use.
const minDuplicates = 100 * time.Millisecond

func (l *Log) settings() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: l.cell.Stream(), Subjects: []string{logSubject(l.cell)},
		Retention: jetstream.LimitsPolicy, Storage: jetstream.FileStorage, Replicas: l.o.Replicas,
		Discard: jetstream.DiscardNew, DenyDelete: true, Duplicates: minDuplicates,
		MaxMsgs: -1, MaxBytes: -1, MaxMsgsPerSubject: -1, MaxMsgSize: -1, MaxConsumers: -1,
	}
}

func (l *Log) openStream(ctx context.Context) error {
	var wrong error
	err := retry(ctx, func(err error) bool { return wrong != nil }, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*requestTime)
		defer cancel()
		s, err := l.js.Stream(ctx, l.cell.Stream())
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			s, err = l.js.CreateStream(ctx, l.settings())
		}
		if err != nil {
			return fmt.Errorf("cluster: stream %s: %w", l.cell.Stream(), err)
		}
		l.stream = s
		wrong = checkSettings(l.settings(), s.CachedInfo().Config)
		return wrong
	})
	if err == nil && l.conn.MaxPayload() < headerBytes+fragmentBytes {
		err = fmt.Errorf("%w: max_payload of the servers: got %d, want at least %d", ErrSettings, l.conn.MaxPayload(), headerBytes+fragmentBytes)
	}
	return err
}
