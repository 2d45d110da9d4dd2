package nemesis

import (
	"context"
	"time"
)

const (
	saveTime   = time.Minute // for a save of each node after the events
	bucketTime = 20 * time.Second
)

// saves checks that no healthy node reports an error of its last save.
func (r *run) saves(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	err := r.Until(ctx, func() bool { return r.saveErr() == "" })
	if failed := r.saveErr(); failed != "" && !r.Bad() {
		r.Fault("without an event: %s", failed)
		return nil
	}
	return err
}

// saveErr returns the names and errors of nodes that could not save.
func (r *run) saveErr() (all string) {
	for _, n := range r.Nodes {
		if err := r.Status(n, cell).SaveErr; err != "" {
			all += n.Name + ": " + err
		}
	}
	return all
}

// checkBucket reports a fault if the bucket has more than two objects and their chunks.
func (r *run) checkBucket(ctx context.Context) error {
	if r.snapshots(r.Dir) != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, bucketTime)
	defer cancel()
	bucket, err := r.JS.ObjectStore(ctx, cell.Stream())
	if err != nil {
		return err
	}
	objects, err := bucket.List(ctx)
	if err != nil {
		return err
	}
	s, err := r.JS.Stream(ctx, "OBJ_"+cell.Stream())
	if err != nil {
		return err
	}
	is, want := s.CachedInfo(), uint64(0)
	for _, o := range objects {
		want += 1 + uint64(o.Chunks)
	}
	if len(objects) > 2 || is.State.Msgs != want || is.Config.AllowDirect {
		r.Fault("bucket: %d objects, %d messages, want %d; any replica answers: %t", len(objects), is.State.Msgs, want, is.Config.AllowDirect)
	}
	return nil
}
