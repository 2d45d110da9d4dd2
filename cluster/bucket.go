package cluster

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A bucket is the stream of a cell's snapshots, in the format of object stores, so other
// clients can list and copy them. All reads are answered by the stream leader, because other
// replicas may lag.
//
//	$O.<bucket>.M.<name>  the newest message describes the object
//	$O.<bucket>.C.<id>    chunks of the object with this id
type bucket struct {
	name       string
	js         jetstream.JetStream
	stream     jetstream.Stream
	settings   jetstream.StreamConfig
	stallLimit time.Duration // limit of a request with its retries
}

const (
	chunkBytes  = 256 << 10
	chunkWindow = 16 // unacknowledged chunks
	stalledTime = 10 * requestTime

	listTime = 10 * requestTime // limit of a list of chunks
)

func openBucket(ctx context.Context, js jetstream.JetStream, cell CellID, replicas int) (b *bucket, err error) {
	b = &bucket{name: cell.Stream(), js: js, settings: snapshotStream.settings(cell, replicas), stallLimit: stalledTime}
	b.stream, err = openStream(ctx, js, b.settings)
	return b, err
}

func (b *bucket) chunks(id string) string { return "$O." + b.name + ".C." + id }

// any matches all names, but not all ids.
const anyName = "*"

func (b *bucket) meta(name string) string {
	if name != anyName {
		name = base64.URLEncoding.EncodeToString([]byte(name))
	}
	return "$O." + b.name + ".M." + name
}

// subjects returns the last tokens of the used subjects that match, and compares the settings.
func (b *bucket) subjects(ctx context.Context, match string) (last map[string]bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	info, err := b.stream.Info(ctx, jetstream.WithSubjectFilter(match))
	if err == nil {
		err = checkSettings(b.settings, info.Config)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: bucket %s: %w", b.settings.Name, err)
	}
	last = make(map[string]bool, len(info.State.Subjects))
	for subject := range info.State.Subjects {
		last[subject[strings.LastIndexByte(subject, '.')+1:]] = true
	}
	return last, nil
}

func (b *bucket) request(ctx context.Context, f func(ctx context.Context) (*jetstream.RawStreamMsg, error)) (m *jetstream.RawStreamMsg, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.stallLimit)
	defer cancel()
	err = retry(ctx, isNotFound, func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, 2*requestTime)
		defer cancel()
		m, err = f(ctx)
		return err
	})
	return m, err
}

// describe returns the description of an object, and the sequence of its message, or 0.
func (b *bucket) describe(ctx context.Context, name string) (info jetstream.ObjectInfo, seq uint64, err error) {
	m, err := b.request(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return b.stream.GetLastMsgForSubject(ctx, b.meta(name))
	})
	if isNotFound(err) {
		return info, 0, nil
	}
	if err != nil {
		return info, 0, fmt.Errorf("cluster: object %s: %w", name, err)
	}
	if name != anyName && json.Unmarshal(m.Data, &info) != nil {
		info = jetstream.ObjectInfo{Deleted: true} // of another client: replaceable
	}
	return info, m.Sequence, nil
}

// put replaces a description, if last is the sequence of the bucket's newest.
func (b *bucket) put(ctx context.Context, info jetstream.ObjectInfo, last uint64) (seq uint64, err error) {
	data, err := json.Marshal(info)
	if err != nil {
		return 0, err
	}
	m := nats.NewMsg(b.meta(info.Name))
	m.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	m.Data = data
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	err = retry(ctx, isDelivered, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, appendTime)
		defer cancel()
		ack, err := b.js.PublishMsg(ctx, m, jetstream.WithExpectStream(b.settings.Name),
			jetstream.WithExpectLastSequenceForSubject(last, b.meta(anyName)), jetstream.WithRetryAttempts(0))
		if err == nil {
			seq = ack.Sequence
		}
		return err
	})
	return seq, err
}

// isDelivered reports whether a server may have the message whose publication failed with err.
// None has it while the stream has no leader, such as a new one.
func isDelivered(err error) bool { return !errors.Is(err, jetstream.ErrNoStreamResponse) }

func (b *bucket) purgeChunks(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*requestTime)
	defer cancel()
	return b.stream.Purge(ctx, jetstream.WithPurgeSubject(b.chunks(id)))
}
