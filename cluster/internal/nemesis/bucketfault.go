package nemesis

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/world"
)

// Mutants of the bucket of snapshots. Runs with them save in the object store.
const (
	directBucket   = "direct-bucket"
	namedSnapshots = "named-snapshots"
	orphanChunks   = "orphan-chunks"
)

func isBucketMutant(name string) bool {
	return name == directBucket || name == namedSnapshots || name == orphanChunks
}

// A careless Log damages the bucket with each save.
type careless struct {
	world.Log
	mutant string
	js     jetstream.JetStream
}

// carelessLog returns l with a mutant of the bucket, or l, and a function that ends it.
func carelessLog(l world.Log, mutant, urls string) (world.Log, func(), error) {
	if !isBucketMutant(mutant) {
		return l, func() {}, nil
	}
	conn, err := nats.Connect(urls, nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true))
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(conn)
	return &careless{l, mutant, js}, conn.Close, err
}

func (c *careless) Save(ctx context.Context, at uint64, write func(w io.Writer) error) error {
	if err := c.Log.Save(ctx, at, write); err != nil {
		return err
	}
	_ = c.spoil(ctx, at) // fails in a fault
	return nil
}

func (c *careless) spoil(ctx context.Context, at uint64) error {
	bucket := cell.Stream()
	switch c.mutant {
	case namedSnapshots:
		o, err := c.js.ObjectStore(ctx, bucket)
		if err == nil {
			_, err = o.PutString(ctx, fmt.Sprint("snapshot", at), strings.Repeat("state", 10))
		}
		return err
	case orphanChunks:
		_, err := c.js.Publish(ctx, fmt.Sprintf("$O.%s.C.left%d", bucket, at), []byte("state"))
		return err
	}
	s, err := c.js.Stream(ctx, "OBJ_"+bucket)
	if err == nil {
		config := s.CachedInfo().Config
		config.AllowDirect = true
		_, err = c.js.UpdateStream(ctx, config)
	}
	return err
}
