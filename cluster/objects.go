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

type objects struct {
	jetstream.ObjectStore
	stream     jetstream.Stream
	stallLimit time.Duration // limit of a Read without bytes
}

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
		return nil, fmt.Errorf("cluster: object store %s: %w", l.cell.Stream(), err)
	}
	return o, nil
}

// disableDirectGet makes the leader answer all reads. By default any replica does, even if it
// lags.
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
	objectTime  = 10 * time.Minute
	stalledTime = 10 * requestTime
)

// rollingDeadline is a context for readers that use its deadline as a timeout of each Read.
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

// An object is readable until the context of its Get ends.
type object struct {
	jetstream.ObjectResult
	cancel func()
}

// Read fails with [ErrCorrupt] on a wrong digest.
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

// listTime is the time limit of a try. A dying server ends a list without an error.
const listTime = 3 * requestTime

// Names fails if the list lacks an object of the stream leader: a lagging server or a short
// list reports no error.
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
		return nil, fmt.Errorf("cluster: list of objects: got %d, want %d more", len(all), len(missing))
	}
	return names, nil
}

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
