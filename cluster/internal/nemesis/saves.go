package nemesis

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/world"
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

// checkBucket reports a fault if the bucket has objects that are older than the two newest
// snapshots, or unknown ones.
func (r *run) checkBucket(ctx context.Context, log world.Log) error {
	at, err := log.Snapshots(ctx)
	if err != nil {
		return err
	}
	s, err := r.JS.Stream(ctx, "OBJ_"+cell.Stream())
	if err != nil {
		return err
	}
	is, err := s.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return err
	}
	oldest := fmt.Sprintf("%v-%016x", cell, append(at, 0, 0)[1])
	for subject := range is.State.Subjects {
		id, _ := base64.URLEncoding.DecodeString(subject[strings.LastIndexByte(subject, '.')+1:])
		if name := string(id); name < oldest || !strings.HasPrefix(name, cell.String()) {
			r.Fault("bucket: left: %s %s", subject, name)
		}
	}
	return nil
}
