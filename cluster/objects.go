package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// objects are Blobs in an object store of JetStream.
type objects struct {
	jetstream.ObjectStore
	stalled time.Duration // limit of a Read that gets nothing
}

// openObjects opens the cell's object store, and makes it if there is none.
func (l *Log) openObjects(ctx context.Context) (Blobs, error) {
	o := objects{stalled: stalledTime}
	err := patiently(ctx, never, func(ctx context.Context) (err error) {
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
			err = l.askLeader(ctx, s.CachedInfo().Config)
		}
		if err == nil {
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
func (l *Log) askLeader(ctx context.Context, bucket jetstream.StreamConfig) error {
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
type stalling struct {
	context.Context
	limit time.Duration
}

func (s stalling) Deadline() (time.Time, bool) { return time.Now().Add(s.limit), true }

func (o objects) Put(ctx context.Context, name string, r io.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, objectTime)
	defer cancel()
	_, err := o.ObjectStore.Put(ctx, jetstream.ObjectMeta{Name: name}, r)
	return err
}

func (o objects) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, objectTime)
	r, err := o.ObjectStore.Get(stalling{ctx, o.stalled}, name)
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

// listTime is how long one try may take. A list comes by a consumer, which a server that
// dies takes along without a word.
const listTime = 3 * requestTime

// List may miss an object that was put a moment ago: the consumer may be on a server that
// lags. Trim keeps more then, and a follower loads an older snapshot.
func (o objects) List(ctx context.Context) (names []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	all, err := o.ObjectStore.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, nil
	}
	for _, object := range all {
		names = append(names, object.Name)
	}
	return names, err
}

func (o objects) Delete(ctx context.Context, name string) error {
	err := o.ObjectStore.Delete(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil
	}
	return err
}
