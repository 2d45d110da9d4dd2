package nemesis

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
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

// saveErr returns the name and the error of a node that could not save, or "".
func (r *run) saveErr() string {
	for _, n := range r.Nodes {
		if err := r.look(n).saveErr; err != "" {
			return n.Name + ": " + err
		}
	}
	return ""
}

// checkBucket reports a fault if the bucket has more than two objects and their chunks.
func (r *run) checkBucket(ctx context.Context) error {
	if r.snapshots(r.Dir) != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, bucketTime)
	defer cancel()
	bucket := cell.Stream()
	s, err := r.JS.Stream(ctx, "OBJ_"+bucket)
	if err != nil {
		return err
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return err
	}
	objects, left := 0, info.State.Subjects
	for subject, n := range info.State.Subjects {
		if !strings.HasPrefix(subject, "$O."+bucket+".M.") {
			continue
		}
		m, err := s.GetLastMsgForSubject(ctx, subject)
		if err != nil {
			return err
		}
		var o jetstream.ObjectInfo
		if err := json.Unmarshal(m.Data, &o); err != nil {
			return err
		}
		chunks := "$O." + bucket + ".C." + o.NUID
		if objects++; n == 1 && left[chunks] == uint64(o.Chunks) {
			delete(left, chunks)
			delete(left, subject)
		}
	}
	if objects > 2 || len(left) > 0 || info.Config.AllowDirect {
		r.Fault("bucket: %d objects, any replica answers: %t, other messages: %v", objects, info.Config.AllowDirect, left)
	}
	return nil
}
