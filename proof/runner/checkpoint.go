package runner

import (
	"bytes"
	"cmp"
	"context"
	"maps"

	"handloom/proof/model"
	"handloom/store"
)

// checkpoint is a checkpoint of the store with copies of both models.
type checkpoint struct {
	image    store.Checkpoint
	digest   uint64
	exact    *model.Exact
	abstract *model.Abstract
	real     map[int]uint64 // handles by name, except provisional handles
	sortedBy map[int]int
	columns  int
}

// checkpoint takes a checkpoint under a reusable number.
func (p *executor) checkpoint(ctx context.Context, as int) {
	unchanged := p.unchanged(ctx, "a checkpoint")
	// The memory of an older checkpoint with this number is used again.
	c := cmp.Or(p.checkpoints[as], new(checkpoint))
	p.checkpoints[as] = c
	if err := p.store.Checkpoint(ctx, &c.image); err != nil {
		p.fail(Model, "Checkpoint: %v", err)
		return
	}
	c.digest = p.digestOf(ctx)
	// The copies belong to the checkpoint; a rollback copies them again.
	c.exact, c.abstract, c.sortedBy = p.exact.Copy(), p.abstract.Copy(), maps.Clone(p.sortedBy)
	c.columns = p.columns
	c.real = make(map[int]uint64)
	for name, v := range p.names {
		// A provisional handle is stale after a rollback, so its name has no handle to
		// restore.
		if v.id != 0 && v.id>>63 == 0 {
			c.real[name] = v.id
		}
	}
	unchanged()
}

// restore rolls back, directly or through a snapshot of the checkpoint.
func (p *executor) restore(ctx context.Context, c *store.Checkpoint, saved bool) error {
	if !saved {
		return p.store.Rollback(ctx, c)
	}
	var image bytes.Buffer
	_, err := c.WriteTo(&image)
	if err != nil {
		return err
	}
	return p.store.Load(ctx, &image)
}

// maxAbandoned limits the kept handles of ended histories.
const maxAbandoned = 4096

// abandon keeps handles that only the abandoned history issued. The store may issue them
// again for other items, or they stay stale; the models predict it.
func (p *executor) abandon(to *model.Abstract) {
	p.abandoned = append(p.abandoned, p.abstract.IssuedOnly(to)...)
	p.abandoned = p.abandoned[max(0, len(p.abandoned)-maxAbandoned):]
}

// rollback restores a checkpoint in the store and in both models. Without such a
// checkpoint, or with a newer column, the store must refuse it.
func (p *executor) rollback(ctx context.Context, to int, saved bool) {
	c := p.checkpoints[to]
	if c == nil {
		unchanged := p.unchanged(ctx, "a rollback to nothing")
		p.expect(p.store.Rollback(ctx, new(store.Checkpoint)), store.ErrCheckpoint, "Rollback to an empty checkpoint")
		unchanged()
		return
	}
	// A checkpoint does not contain a column that is newer, so the store refuses it.
	if c.columns != p.columns {
		unchanged := p.unchanged(ctx, "a rollback to before a column")
		p.expect(p.store.Rollback(ctx, &c.image), store.ErrCheckpoint, "Rollback to a checkpoint from before a column")
		unchanged()
		return
	}
	err := p.restore(ctx, &c.image, saved)
	if err != nil {
		p.fail(Model, "Rollback: %v", err)
		return
	}
	// The refused Insert is undone, too.
	p.full = false
	p.abandon(c.abstract)
	p.exact.Rollback(c.exact)
	p.abstract, p.sortedBy = c.abstract.Copy(), maps.Clone(c.sortedBy)
	// Provisional handles of the abandoned history resolve no more.
	p.fresh, p.old = nil, nil
	for name, v := range p.names {
		// An item created after the checkpoint does not exist. Its name gets the
		// provisional handle again, which is stale, or null.
		v.id = v.provisional
		if id, ok := c.real[name]; ok {
			v.id = id
		}
	}
	// The models cannot predict a digest, so it is compared with the digest of the
	// checkpoint.
	digest := p.digestOf(ctx)
	p.want(digest == c.digest, "Rollback leaves digest %016x; at the checkpoint it was %016x", digest, c.digest)
	p.inspect(ctx)
	p.mark(ctx, "rollback")
}
