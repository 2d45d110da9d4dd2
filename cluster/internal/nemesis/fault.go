package nemesis

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"handloom/world"
)

// Mutants are faults that a run must find, with descriptions.
var Mutants = map[string]string{
	"ack-before-append": "a log that acknowledges a record and appends it a moment later",
	"altered-record":    "a log that gives a follower other bytes than were appended, now and then",
	directBucket:        "a bucket of snapshots that any replica answers for",
	namedSnapshots:      "an object of another name in the bucket",
	orphanChunks:        "a chunk in the bucket that no object names",
	restoredServers:     "servers that come back, all at once, with what they had at a kill-servers before",
}

const restoredServers = "restored-servers"

// Mutants of the bucket of snapshots. Runs with them save in the object store.
const (
	directBucket   = "direct-bucket"
	namedSnapshots = "named-snapshots"
	orphanChunks   = "orphan-chunks"
)

func isBucketMutant(name string) bool {
	return name == directBucket || name == namedSnapshots || name == orphanChunks
}

// spoil damages the bucket after the last save if the run has a mutant of it.
func (r *run) spoil(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bucketTime)
	defer cancel()
	bucket := cell.Stream()
	switch r.Mutant {
	case namedSnapshots:
		o, err := r.JS.ObjectStore(ctx, bucket)
		if err == nil {
			_, err = o.PutString(ctx, "snapshot400", strings.Repeat("state", 10))
		}
		return err
	case orphanChunks:
		_, err := r.JS.Publish(ctx, "$O."+bucket+".C.left400", []byte("state"))
		return err
	case directBucket:
		s, err := r.JS.Stream(ctx, "OBJ_"+bucket)
		if err == nil {
			config := s.CachedInfo().Config
			config.AllowDirect = true
			_, err = r.JS.UpdateStream(ctx, config)
		}
		return err
	}
	return nil
}

// restoreServers copies the files of all stopped servers the first time, and restores them
// later.
func (r *run) restoreServers() error {
	for _, s := range r.Servers {
		has, had := filepath.Join(r.Dir, s.Name), filepath.Join(r.Dir, s.Name+"-had")
		if _, err := os.Stat(had); err == nil {
			if err := os.RemoveAll(has); err != nil {
				return err
			}
			has, had = had, has
		}
		if err := os.CopyFS(had, os.DirFS(has)); err != nil {
			return err
		}
	}
	return nil
}

func faulty(l world.Log, mutant string) world.Log {
	switch mutant {
	case "ack-before-append":
		return &hasty{Log: l}
	case "altered-record":
		return altering{l}
	}
	return l
}

// hasty acknowledges records before their append.
type hasty struct {
	world.Log
	waits chan late
}

type late struct {
	prev uint64
	rec  []byte
}

const (
	lateBy   = 150 * time.Millisecond
	maxWaits = 1000
)

func (h *hasty) Append(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
	if rec[3] != 2 { // terms begin in order
		return h.Log.Append(ctx, prev, rec)
	}
	if h.waits == nil {
		h.waits = make(chan late, maxWaits)
		go func() {
			for l := range h.waits {
				time.Sleep(lateBy)
				_, _ = h.Log.Append(context.Background(), l.prev, l.rec)
			}
		}()
	}
	select {
	case h.waits <- late{prev, bytes.Clone(rec)}:
		return prev + 1, nil
	default:
		return 0, fs.ErrClosed
	}
}

// altering changes a byte in one of fifty records.
type altering struct{ world.Log }

func (a altering) Read(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error {
	return a.Log.Read(ctx, after, func(at uint64, rec []byte) error {
		if at%50 == 0 {
			rec = bytes.Clone(rec)
			rec[len(rec)-1] ^= 1
		}
		return each(at, rec)
	})
}
