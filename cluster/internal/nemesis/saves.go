package nemesis

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/world"
)

const (
	// fastSaves is the number of saves after the events, one after another.
	fastSaves = 100

	// saveTime limits the wait for a save of each node after the events.
	saveTime = time.Minute

	bucketTime = 20 * time.Second
)

// saves checks the snapshots of healthy processes: no node reports an error, and all saves of
// the parent succeed, while the nodes save, too.
func (r *run) saves(ctx context.Context, log world.Log) error {
	if r.bad() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	err := r.Until(ctx, func() bool { return r.saveErr() == "" })
	if err == nil && !r.bad() {
		err = r.fastSaves(log)
	}
	if failed := r.saveErr(); failed != "" {
		r.auditor.Fault("without an event: %s", failed)
		return nil
	}
	return err
}

func (r *run) fastSaves(log world.Log) error {
	begin := time.Now()
	for n := range fastSaves {
		if err := saveAgain(context.Background(), log); err != nil {
			r.auditor.Fault("save %d of %d without an event: %v", n+1, fastSaves, err)
			return nil
		}
	}
	r.logf("%d snapshots saved, %v each", fastSaves, (time.Since(begin) / fastSaves).Round(ms/10))
	return nil
}

// saveAgain replaces the newest snapshot by its copy.
func saveAgain(ctx context.Context, log world.Log) error {
	ctx, cancel := context.WithTimeout(ctx, bucketTime)
	defer cancel()
	for {
		at, err := log.Snapshots(ctx)
		if err == nil && len(at) == 0 {
			err = errors.New("no snapshot")
		}
		if err != nil {
			return err
		}
		b, err := readSnapshot(ctx, log, at[0])
		if errors.Is(err, fs.ErrNotExist) {
			continue // nodes have saved newer ones
		}
		if err != nil {
			return err
		}
		return log.Save(ctx, at[0], func(w io.Writer) error {
			_, err := io.Copy(w, bytes.NewReader(b))
			return err
		})
	}
}

func readSnapshot(ctx context.Context, log world.Log, at uint64) ([]byte, error) {
	r, err := log.Load(ctx, at)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
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
		r.auditor.Fault("bucket: %d objects, any replica answers: %t, other messages: %s", objects, info.Config.AllowDirect, list(left))
	}
	return nil
}

func list(messages map[string]uint64) string {
	var all []string
	for subject, n := range messages {
		all = append(all, fmt.Sprintf("%d of %s", n, subject))
	}
	slices.Sort(all)
	return strings.Join(all[:min(len(all), 5)], ", ")
}
