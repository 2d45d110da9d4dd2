package cluster

import (
	"context"
	"encoding/base64"
	"io"
	"io/fs"
	"slices"

	"github.com/nats-io/nats.go/jetstream"
)

// The former layout of a bucket was that of [pairs]: objects named by record and writer, and a
// description for ever for each that was deleted. Their snapshots are listed and read until
// both slots are at least as new. Then their descriptions are purged.

func isPair(name string) bool { return len(name) > 0 && slices.Contains([]byte(name), '-') }

// names returns the names in subjects, except the slots'.
func (s *slots) names(encoded map[string]bool) (names []string) {
	for e := range encoded {
		b, err := base64.URLEncoding.DecodeString(e)
		if name := string(b); err != nil || !slices.Contains(slotNames[:], name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// pairs returns the two newest snapshots of the former layout that are of use.
func (s *slots) pairs(ctx context.Context, v *view) (found []snapshot, err error) {
	whole, _ := findPairs(s.cell, v.more)
	newestFirst(whole)
	least, full := v.least()
	for _, i := range whole {
		if len(found) == keptSnapshots || full && i.at <= least {
			break
		}
		_, snap, err := s.pair(ctx, i.name+snapshotExt)
		if err != nil {
			return nil, err
		}
		_, sum, err := s.pair(ctx, i.name+sumExt)
		if err != nil {
			return nil, err
		}
		if snap && sum {
			found = append(found, i)
		}
	}
	return found, nil
}

func (s *slots) pair(ctx context.Context, name string) (info jetstream.ObjectInfo, exists bool, err error) {
	info, seq, err := s.describe(ctx, name)
	return info, seq > 0 && !info.Deleted, err
}

// least returns the position of the older of two snapshots.
func (v *view) least() (at uint64, full bool) {
	older, _, full := v.both()
	i, _ := v.slots[older].snapshot()
	return i.at, full
}

func (s *slots) openPair(ctx context.Context, i snapshot) (io.ReadCloser, error) {
	info, exists, err := s.pair(ctx, i.name+snapshotExt)
	if err == nil && !exists {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	return s.bucket.open(ctx, info, func(ctx context.Context) (bool, error) {
		now, exists, err := s.pair(ctx, i.name+snapshotExt)
		return exists && now.NUID == info.NUID, err
	}), nil
}

// prunePairs purges the descriptions before both slots' once no pair is of use. Those of an
// older program that saves meanwhile stay.
func (s *slots) prunePairs(ctx context.Context) error {
	v, err := s.current(ctx)
	if err != nil || len(v.more) == 0 {
		return err
	}
	if _, full := v.least(); !full {
		return nil
	}
	useful, err := s.pairs(ctx, &v)
	if err != nil || len(useful) > 0 {
		return err
	}
	first := min(v.slots[0].seq, v.slots[1].seq)
	return s.purge(ctx, jetstream.WithPurgeSubject(s.meta(anyName)), jetstream.WithPurgeSequence(first))
}
