package cluster

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// slots keep two snapshots in a bucket, as the objects a and b. A save replaces the older one:
//
//	a  record 400                 b  record 300
//	a  record 400                 b  record 300, saving x    claim; chunks of x follow
//	a  record 400                 b  record 500              x was read back
//
// Nodes may save at once. These rules hold:
//
//   - Every description is put only if none was put since the last look. It names the other's
//     sequence, so a look that mixes two times fails.
//   - Only the node of a claim publishes and replaces. Others wait, and take the claim over if
//     it is not renewed for staleLimit; then the former node cannot replace anything.
//   - Chunks are published after their claim. So chunks that were listed before a claim was
//     put, and that no description then names, are of no use. They are purged.
type slots struct {
	*bucket
	cell         CellID
	staleLimit   time.Duration // time without renewal after which a claim is void
	releaseLimit time.Duration // of a release
}

// A slot is an object that may have a snapshot and a claim.
type slot struct {
	info jetstream.ObjectInfo
	seq  uint64 // of its description; 0: none
}

var slotNames = [keptSnapshots]string{"a", "b"}

// Metadata of a slot.
const (
	recordKey = "record"
	savingKey = "saving" // id of the claim
	otherKey  = "other"  // sequence of the other slot's description
)

const staleTime = 3 * requestTime

func (s *slot) snapshot() (i snapshot, ok bool) {
	at, err := strconv.ParseUint(s.info.Metadata[recordKey], 10, 64)
	return snapshot{at, s.info.NUID}, err == nil && !s.info.Deleted
}

func (s *slot) claim() string { return s.info.Metadata[savingKey] }

// A view is the content of all descriptions at one time.
type view struct {
	slots [keptSnapshots]slot
	last  uint64 // newest sequence, also of objects that are no slots
}

var errChanged = errors.New("cluster: the snapshots changed during a look")

func (s *slots) look(ctx context.Context) (v view, err error) {
	encoded, err := s.subjects(ctx, s.meta(anyName))
	for _, name := range slotNames {
		delete(encoded, base64.URLEncoding.EncodeToString([]byte(name)))
	}
	// Without objects of others, last is of the slots alone: then a lagging server cannot answer
	// with a new last and an old slot.
	if err == nil && len(encoded) > 0 {
		_, v.last, err = s.describe(ctx, anyName)
	}
	for i := range v.slots {
		if err == nil {
			v.slots[i].info, v.slots[i].seq, err = s.describe(ctx, slotNames[i])
			v.last = max(v.last, v.slots[i].seq)
		}
	}
	if err != nil {
		return v, err
	}
	newest := 0
	if v.slots[1].seq > v.slots[0].seq {
		newest = 1
	}
	other, known := v.slots[newest].info.Metadata[otherKey]
	if known && other != fmt.Sprint(v.slots[1-newest].seq) {
		return v, errChanged
	}
	return v, nil
}

// current is look with retries.
func (s *slots) current(ctx context.Context) (v view, err error) {
	ctx, cancel := context.WithTimeout(ctx, blobTime)
	defer cancel()
	err = retry(ctx, isWrongSettings, func(ctx context.Context) (err error) {
		v, err = s.look(ctx)
		return err
	})
	return v, err
}

// find returns the slot with a snapshot, or nil.
func (v *view) find(i snapshot) *slot {
	for k := range v.slots {
		if is, ok := v.slots[k].snapshot(); ok && is == i {
			return &v.slots[k]
		}
	}
	return nil
}

// both returns the indices of two snapshots, if there are two.
func (v *view) both() (older, newer int, both bool) {
	a, first := v.slots[0].snapshot()
	b, second := v.slots[1].snapshot()
	if b.at < a.at {
		return 1, 0, first && second
	}
	return 0, 1, first && second
}

func (s *slots) list(ctx context.Context) (whole, all []snapshot, err error) {
	v, err := s.look(ctx)
	if err != nil {
		return nil, nil, err
	}
	for k := range v.slots {
		if i, ok := v.slots[k].snapshot(); ok {
			whole = append(whole, i)
		}
	}
	return whole, whole, nil
}

func (s *slots) open(ctx context.Context, i snapshot) (io.ReadCloser, error) {
	v, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	found := v.find(i)
	if found == nil {
		return nil, fs.ErrNotExist
	}
	return s.bucket.open(ctx, found.info, func(ctx context.Context) (bool, error) {
		v, err := s.current(ctx)
		return err == nil && v.find(i) != nil, err
	}), nil
}

func (s *slots) verify(ctx context.Context, i snapshot) error {
	r, err := s.open(ctx, i)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	return errors.Join(err, r.Close())
}

// save replaces the older snapshot, or one that is damaged. It does nothing if both are newer.
func (s *slots) save(ctx context.Context, at uint64, write func(w io.Writer) error, is damage) (snapshot, error) {
	listed, err := s.subjects(ctx, s.chunks(anyName))
	if err != nil {
		return snapshot{}, err
	}
	c := claim{slots: s, at: at, id: fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64()), damaged: is}
	if err := c.take(ctx); err != nil || c.covered {
		return snapshot{}, err
	}
	replaced := c.slot().info.NUID
	err = c.purgeUnnamed(ctx, listed)
	if err == nil {
		err = c.store(ctx, write)
	}
	if err != nil {
		c.release(ctx)
		return snapshot{}, err
	}
	// The next save purges the rest of a failure.
	if replaced != "" {
		_ = s.purgeChunks(ctx, replaced)
	}
	return snapshot{at, c.id}, nil
}

// remove does nothing: save replaces slots.
func (*slots) remove(context.Context, snapshot) error { return nil }
