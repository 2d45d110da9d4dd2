package runner

import (
	"bytes"
	"cmp"
	"context"
	"maps"

	"handloom/proof/model"
	"handloom/store"
)

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
	c := cmp.Or(p.checkpoints[as], new(checkpoint))
	p.checkpoints[as] = c
	if err := p.store.Checkpoint(ctx, &c.image); err != nil {
		p.fail(Model, "Checkpoint: %v", err)
		return
	}
	c.digest = p.digestOf(ctx)
	c.exact, c.abstract, c.sortedBy = p.exact.Copy(), p.abstract.Copy(), maps.Clone(p.sortedBy)
	c.columns = p.columns
	c.real = make(map[int]uint64)
	for name, v := range p.names {
		if v.id != 0 && v.id>>63 == 0 {
			c.real[name] = v.id
		}
	}
	unchanged()
}

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

func (p *executor) abandon(to *model.Abstract) {
	p.abandoned = append(p.abandoned, p.abstract.IssuedOnly(to)...)
	p.abandoned = p.abandoned[max(0, len(p.abandoned)-maxAbandoned):]
}

func (p *executor) rollback(ctx context.Context, to int, saved bool) {
	c := p.checkpoints[to]
	if c == nil {
		unchanged := p.unchanged(ctx, "a rollback to nothing")
		p.expect(p.store.Rollback(ctx, new(store.Checkpoint)), store.ErrCheckpoint, "Rollback to an empty checkpoint")
		unchanged()
		return
	}
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
	p.full = false
	p.abandon(c.abstract)
	p.exact.Rollback(c.exact)
	p.abstract, p.sortedBy = c.abstract.Copy(), maps.Clone(c.sortedBy)
	p.fresh, p.old = nil, nil
	for name, v := range p.names {
		v.id = v.provisional
		if id, ok := c.real[name]; ok {
			v.id = id
		}
	}
	digest := p.digestOf(ctx)
	p.want(digest == c.digest, "Rollback leaves digest %016x; at the checkpoint it was %016x", digest, c.digest)
	p.inspect(ctx)
	p.mark(ctx, "rollback")
}
