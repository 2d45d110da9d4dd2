package cluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A claim is the right of a node to replace a slot.
type claim struct {
	*slots
	at      uint64
	id      string // of the new object
	damaged damage

	view    view
	target  int  // index of the slot
	covered bool // two newer snapshots exist
	renewed time.Time
}

func (c *claim) slot() *slot { return &c.view.slots[c.target] }

var errSuperseded = errors.New("cluster: another node took over the save")

// take waits until no other node saves, and puts the claim.
func (c *claim) take(ctx context.Context) (err error) {
	var seen uint64 // sequence of another node's claim
	var since time.Time
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		if c.view, err = c.current(ctx); err != nil {
			return err
		}
		other := c.claimed()
		if other >= 0 && c.view.slots[other].seq != seen {
			seen, since = c.view.slots[other].seq, time.Now()
		}
		switch {
		case other >= 0 && time.Since(since) < c.staleLimit:
			err = errChanged
		case other >= 0:
			c.target = other
			err = c.put(ctx, c.slot().info, "")
		default:
			if err = c.choose(ctx); err != nil || c.covered {
				return err
			}
			if err = c.put(ctx, c.slot().info, c.id); err == nil {
				return nil
			}
			if !refused(err) {
				c.release(ctx)
			}
		}
		if err != nil && err != errChanged && !refused(err) {
			return err
		}
		if pause(ctx, wait) != nil {
			return context.Cause(ctx)
		}
	}
}

// claimed returns the index of a slot with a claim, or -1.
func (c *claim) claimed() int {
	for k := range c.view.slots {
		if c.view.slots[k].claim() != "" {
			return k
		}
	}
	return -1
}

// choose chooses the slot to replace: an empty or damaged one, else the older.
func (c *claim) choose(ctx context.Context) error {
	older, newer, both := c.view.both()
	if !both {
		// The first empty slot, or the one with this record.
		for c.target = range c.view.slots {
			if i, ok := c.view.slots[c.target].snapshot(); !ok || i.at == c.at {
				break
			}
		}
		return nil
	}
	old, _ := c.view.slots[older].snapshot()
	last, _ := c.view.slots[newer].snapshot()
	c.target = newer
	if bad, err := c.damaged(ctx, last); err != nil || bad || last.at == c.at {
		return err
	}
	c.target = older
	if old.at <= c.at {
		return nil
	}
	bad, err := c.damaged(ctx, old)
	c.covered = !bad
	return err
}

// put puts the target's description with a claim, and updates the view.
func (c *claim) put(ctx context.Context, info jetstream.ObjectInfo, saving string) error {
	info.Name, info.Bucket = slotNames[c.target], c.name
	info.Deleted = info.NUID == ""
	info.Metadata = maps.Clone(info.Metadata)
	if info.Metadata == nil {
		info.Metadata = make(map[string]string)
	}
	info.Metadata[otherKey] = fmt.Sprint(c.view.slots[1-c.target].seq)
	info.Metadata[savingKey] = saving
	if saving == "" {
		delete(info.Metadata, savingKey)
	}
	seq, err := c.bucket.put(ctx, info, c.view.last)
	if err == nil {
		*c.slot(), c.view.last = slot{info, seq}, seq
	}
	return err
}

// replace is put while the claim holds. It decides about lost acknowledgements.
func (c *claim) replace(ctx context.Context, info jetstream.ObjectInfo, saving string) error {
	err := c.put(ctx, info, saving)
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, blobTime)
	defer cancel()
	return retry(ctx, func(err error) bool { return errors.Is(err, errSuperseded) || isWrongSettings(err) }, func(ctx context.Context) error {
		if err := c.lookAgain(ctx); err != nil {
			return err
		}
		switch stored := c.slot().info.NUID == c.id; {
		case stored && saving == "":
			return nil // also if another node has claimed the slot
		case c.slot().claim() != c.id:
			return errSuperseded
		}
		return c.put(ctx, info, saving)
	})
}

// lookAgain updates the view. It keeps the view if the look fails or is older.
func (c *claim) lookAgain(ctx context.Context) error {
	v, err := c.look(ctx)
	if err == nil && v.last < c.view.last {
		err = errChanged
	}
	if err == nil {
		c.view = v
	}
	return err
}

// renew renews the claim now and then.
func (c *claim) renew(ctx context.Context) error {
	if time.Since(c.renewed) < c.staleLimit/6 {
		return context.Cause(ctx)
	}
	c.renewed = time.Now()
	return c.replace(ctx, c.slot().info, c.id)
}

// holds fails if another node took over.
func (c *claim) holds(ctx context.Context) (bool, error) {
	v, err := c.current(ctx)
	if err == nil && v.slots[c.target].claim() != c.id {
		err = errSuperseded
	}
	return true, err
}

// release removes the claim and its chunks, as far as possible now. Another save removes the
// rest. The failed put of the snapshot may have arrived, or may still arrive. So the chunks stay
// until a newer description refuses it.
func (c *claim) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.releaseLimit)
	defer cancel()
	if c.lookAgain(ctx) != nil || c.slot().info.NUID == c.id {
		return
	}
	if c.slot().claim() == c.id && c.put(ctx, c.slot().info, "") != nil {
		return
	}
	_ = c.purgeChunks(ctx, c.id)
}

func (c *claim) store(ctx context.Context, write func(w io.Writer) error) error {
	c.renewed = time.Now()
	renew := func() error { return c.renew(ctx) }
	w := &chunkWriter{ctx: ctx, b: c.bucket, each: renew, sum: sha256.New()}
	w.info.Name, w.info.NUID, w.info.Opts = slotNames[c.target], c.id, &jetstream.ObjectMetaOptions{ChunkSize: chunkBytes}
	w.info.Metadata = map[string]string{recordKey: strconv.FormatUint(c.at, 10)}
	err := write(w)
	info, closeErr := w.close()
	if err = cmp.Or(err, closeErr); err != nil {
		return err
	}
	r := c.bucket.open(ctx, info, c.holds)
	defer r.Close()
	for err == nil {
		if _, err = io.CopyN(io.Discard, r, chunkBytes); err == nil {
			err = renew()
		}
	}
	if err != io.EOF {
		return err
	}
	return c.replace(ctx, info, "")
}

// purgeUnnamed purges chunks that were listed before the claim, except the snapshots'.
func (c *claim) purgeUnnamed(ctx context.Context, listed map[string]bool) error {
	for k := range c.view.slots {
		delete(listed, c.view.slots[k].info.NUID)
	}
	for _, id := range slices.Sorted(maps.Keys(listed)) {
		if err := c.purgeChunks(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func isWrongSettings(err error) bool { return errors.Is(err, ErrSettings) }
