package cluster

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// objects are Blobs in an object store of JetStream.
type objects struct {
	jetstream.ObjectStore
	stream     jetstream.Stream
	stallLimit time.Duration // limit of a Read that gets nothing
}

// openObjects opens the cell's object store, and makes it if there is none.
func (l *Log) openObjects(ctx context.Context) (Blobs, error) {
	o := objects{stallLimit: stalledTime}
	err := retry(ctx, never, func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, 5*requestTime)
		defer cancel()
		bucket := l.cell.Stream()
		s, err := l.js.Stream(ctx, "OBJ_"+bucket)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			if _, err = l.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: bucket, Replicas: l.o.Replicas}); err == nil {
				s, err = l.js.Stream(ctx, "OBJ_"+bucket)
			}
		}
		if err == nil {
			err = l.disableDirectGet(ctx, s.CachedInfo().Config)
		}
		if err == nil {
			o.stream = s
			o.ObjectStore, err = l.js.ObjectStore(ctx, bucket)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cluster: the object store %s: %w", l.cell.Stream(), err)
	}
	return o, nil
}

// askLeader has the leader alone answer for a bucket. CreateObjectStore lets any replica
// answer, which may not have yet an object that was just put.
func (l *Log) disableDirectGet(ctx context.Context, bucket jetstream.StreamConfig) error {
	if !bucket.AllowDirect {
		return nil
	}
	bucket.AllowDirect = false
	_, err := l.js.UpdateStream(ctx, bucket)
	return err
}

func never(error) bool { return false }

const (
	// objectTime is how long an object may take to be written, or read.
	objectTime = 10 * time.Minute
	// stalledTime is how long an object may give nothing.
	stalledTime = 10 * requestTime
)

// stalling is a context for the reading of an object. Each Read waits until its deadline, and
// for nothing else: so it is near, at any time.
type rollingDeadline struct {
	context.Context
	limit time.Duration
}

func (s rollingDeadline) Deadline() (time.Time, bool) { return time.Now().Add(s.limit), true }

func (o objects) Put(ctx context.Context, name string, r io.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, objectTime)
	defer cancel()
	_, err := o.ObjectStore.Put(ctx, jetstream.ObjectMeta{Name: name}, r)
	return err
}

func (o objects) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, objectTime)
	r, err := o.ObjectStore.Get(rollingDeadline{ctx, o.stallLimit}, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return &object{r, cancel}, nil
}

// An object is read until the context ends that it was opened with.
type object struct {
	jetstream.ObjectResult
	cancel func()
}

// Read fails with [ErrCorrupt] at the end of an object that is not as it was put.
func (o *object) Read(p []byte) (n int, err error) {
	n, err = o.ObjectResult.Read(p)
	if errors.Is(err, jetstream.ErrDigestMismatch) {
		err = fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return n, err
}

func (o *object) Close() error {
	defer o.cancel()
	return o.ObjectResult.Close()
}

// listTime is the limit of one try. A list comes from a consumer, which ends without a
// message when its server dies.
const listTime = 3 * requestTime

// Names fails when the list lacks an object that the leader of the stream has: its consumer
// may be on a server that lags, or end in the middle of the list, which is no error then.
func (o objects) Names(ctx context.Context) (names []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	missing, err := o.subjects(ctx)
	if err != nil {
		return nil, err
	}
	all, err := o.ObjectStore.List(ctx, jetstream.ListObjectsShowDeleted())
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, err
	}
	for _, object := range all {
		delete(missing, o.subject(object.Name))
		if !object.Deleted {
			names = append(names, object.Name)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("cluster: list of objects: got %d, lacks %d", len(all), len(missing))
	}
	return names, nil
}

// subjects returns the subject of each object that was ever put, deleted ones included. The
// leader answers.
func (o objects) subjects(ctx context.Context) (map[string]uint64, error) {
	info, err := o.stream.Info(ctx, jetstream.WithSubjectFilter(o.prefix()+">"))
	if err != nil {
		return nil, err
	}
	return info.State.Subjects, nil
}

func (o objects) prefix() string {
	return "$O." + strings.TrimPrefix(o.stream.CachedInfo().Config.Name, "OBJ_") + ".M."
}

// subject is the subject that an object store gives to the description of an object.
func (o objects) subject(name string) string {
	return o.prefix() + base64.URLEncoding.EncodeToString([]byte(name))
}

func (o objects) Delete(ctx context.Context, name string) error {
	err := o.ObjectStore.Delete(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil
	}
	return err
}
