package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

func (n *Node) settings() jetstream.StreamConfig { return placementStream.settings(0, n.host.Replicas) }

// watch takes over the entries of the bucket until ctx ends. It begins again if somebody deletes
// the bucket.
func (n *Node) watch(ctx context.Context) error {
	for ; ctx.Err() == nil; _ = pause(ctx, lastRetry) {
		s, err := openStream(ctx, n.conn.js, beginsNow(n.settings()))
		n.noteSettings(err)
		if s != nil && n.placeAgain(ctx, s.CachedInfo().Created) == nil {
			n.watchBucket(ctx, s)
		}
	}
	return context.Cause(ctx)
}

// watchBucket takes over the entries of a bucket until somebody deletes it.
func (n *Node) watchBucket(ctx context.Context, s jetstream.Stream) {
	ctx, stop := context.WithCancel(ctx)
	var looking sync.WaitGroup
	defer looking.Wait()
	defer stop()
	created := s.CachedInfo().Created
	looking.Go(func() {
		defer stop()
		n.awaitDeletion(ctx, s, created)
	})
	w, err := n.bucket.WatchAll(ctx)
	if err != nil {
		return
	}
	for e := range w.Updates() {
		n.see(ctx, e)
		wake(n.changed)
	}
	_ = w.Stop()
}

// awaitDeletion returns when somebody has deleted a bucket. It looks as often as the node beats, and
// notes wrong settings.
func (n *Node) awaitDeletion(ctx context.Context, s jetstream.Stream, created time.Time) {
	for pause(ctx, n.lease/leaseBeats) == nil {
		_, err := checkStream(ctx, s, n.settings(), created)
		if errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, errReplaced) {
			return
		}
		n.noteSettings(err)
	}
}

// noteSettings notes the result of a comparison of settings, and ignores other errors.
func (n *Node) noteSettings(err error) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if err == nil || isWrongSettings(err) {
		n.wrong = err
	}
}

// placeAgain puts the known cells into a bucket that replaces a deleted one, unless it has them. The
// nodes of the deleted bucket remain for a lease, in which they renew their entries.
func (n *Node) placeAgain(ctx context.Context, created time.Time) error {
	n.mutex.Lock()
	known, same := maps.Clone(n.placement.cells), n.created.Equal(created)
	n.mutex.Unlock()
	if same {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		value, err := json.Marshal(known[id])
		if err == nil {
			_, err = n.bucket.Update(ctx, cellPrefix+id.String(), value, 0)
		}
		if err != nil && !refused(err) {
			return err
		}
	}
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.created, n.newest = created, 0
	n.replaced = fmt.Sprintf("bucket %s: somebody deleted it before %v: its %d cells known here have their places again; Place others",
		bucketName, created.Format(time.RFC3339), len(known))
	clear(n.revisions)
	clear(n.missed)
	clear(n.placement.wrong)
	for _, h := range n.hosted {
		h.leadsSince = 0
	}
	return nil
}
