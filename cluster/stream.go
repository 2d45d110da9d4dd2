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
		Name: l.cell.Stream(), Subjects: []string{l.cell.Subject()},
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

// checkSettings returns an error that names each wrong setting, or nil.
func checkSettings(want, c jetstream.StreamConfig) error {
	var errs []error
	for _, s := range []struct {
		name      string
		got, want any
	}{
		{"subjects", fmt.Sprint(c.Subjects), fmt.Sprint(want.Subjects)},
		{"retention", c.Retention, want.Retention},
		{"storage", c.Storage, want.Storage},
		{"num_replicas", c.Replicas, want.Replicas},
		{"discard", c.Discard, want.Discard},
		{"deny_delete", c.DenyDelete, want.DenyDelete},
		{"deny_purge", c.DenyPurge, false},
		{"duplicate_window", c.Duplicates, want.Duplicates},
		{"max_age", c.MaxAge, want.MaxAge},
		{"max_msgs", c.MaxMsgs, want.MaxMsgs},
		{"max_bytes", c.MaxBytes, want.MaxBytes},
		{"max_msgs_per_subject", c.MaxMsgsPerSubject, want.MaxMsgsPerSubject},
		{"max_msg_size", c.MaxMsgSize, want.MaxMsgSize},
		{"max_consumers", c.MaxConsumers, want.MaxConsumers},
		{"allow_direct", c.AllowDirect, false},
		{"allow_rollup_hdrs", c.AllowRollup, want.AllowRollup},
		{"allow_msg_ttl", c.AllowMsgTTL, false},
		{"allow_msg_counter", c.AllowMsgCounter, false},
		{"allow_msg_schedules", c.AllowMsgSchedules, false},
		{"sealed", c.Sealed, false},
		{"no_ack", c.NoAck, false},
		{"mirror", c.Mirror != nil, false},
		{"sources", len(c.Sources), 0},
		{"republish", c.RePublish != nil, false},
		{"subject_transform", c.SubjectTransform != nil, false},
		{"persist_mode", c.PersistMode, want.PersistMode},
	} {
		if s.got != s.want {
			errs = append(errs, fmt.Errorf("%s: got %v, want %v", s.name, s.got, s.want))
		}
	}
	if errs == nil {
		return nil
	}
	return fmt.Errorf("%w %s: %w", ErrSettings, want.Name, errors.Join(errs...))
}
