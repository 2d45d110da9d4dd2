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
type objects struct{ jetstream.ObjectStore }

// openObjects opens the cell's object store, and makes it if there is none.
func (l *Log) openObjects(ctx context.Context) (Blobs, error) {
	var o objects
	err := patiently(ctx, never, func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, 5*requestTime)
		defer cancel()
		o.ObjectStore, err = l.js.ObjectStore(ctx, l.cell.Stream())
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			o.ObjectStore, err = l.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: l.cell.Stream(), Replicas: l.o.Replicas})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cluster: the object store %s: %w", l.cell.Stream(), err)
	}
	return o, nil
}

func never(error) bool { return false }

const (
	// objectTime is how long an object may take to be written, or read.
	objectTime = 10 * time.Minute
	// stalledTime is how long it may give nothing.
	stalledTime = 10 * requestTime
)

// stalling is a context for the reading of an object. Each Read waits until its deadline, and
// for nothing else: so it is near, at any time.
type stalling struct{ context.Context }

func (stalling) Deadline() (time.Time, bool) { return time.Now().Add(stalledTime), true }

func (o objects) Put(ctx context.Context, name string, r io.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, objectTime)
	defer cancel()
	_, err := o.ObjectStore.Put(ctx, jetstream.ObjectMeta{Name: name}, r)
	return err
}

func (o objects) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, objectTime)
	r, err := o.ObjectStore.Get(stalling{ctx}, name)
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

func (o *object) Close() error {
	defer o.cancel()
	return o.ObjectResult.Close()
}

// listTime is how long one try may take. A list comes by a consumer, which a server that
// dies takes along without a word.
const listTime = 3 * requestTime

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
