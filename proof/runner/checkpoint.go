package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"

	"handloom/proof/model"
	"handloom/store"
)

// checkpoint is a state to go back to: the store's, and the models'.
type checkpoint struct {
	image    store.Checkpoint
	digest   uint64
	exact    *model.Exact
	abstract *model.Abstract
	real     map[int]uint64 // by name: handles, but for provisional ones
	sortedBy map[int]int
	columns  int // of all tables, and optional data
}

// checkpoint takes a checkpoint, under a number, which may be used again.
func (p *executor) checkpoint(ctx context.Context, as int) {
	unchanged := p.unchanged(ctx, "a checkpoint")
	c := p.checkpoints[as]
	if c == nil {
		c = new(checkpoint)
		p.checkpoints[as] = c
	}
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

// restore makes the state that of a checkpoint, by way of a snapshot if that is asked for
// and nothing holds pointers.
func (p *executor) restore(ctx context.Context, c *store.Checkpoint, saved bool) error {
	if !saved {
		return p.store.Rollback(ctx, c)
	}
	var image bytes.Buffer
	_, err := c.WriteTo(&image)
	switch {
	case p.pointers && !errors.Is(err, store.ErrSnapshot):
		return fmt.Errorf("pointers are saved: %w", err)
	case p.pointers:
		return p.store.Rollback(ctx, c)
	case err != nil:
		return err
	}
	return p.store.Load(ctx, &image)
}

// maxAbandoned is how many handles of ended histories are kept.
const maxAbandoned = 4096

// abandon keeps the handles that were not issued in a state: in the history that
// goes on from it they name nothing, or what is issued anew by the same name.
func (p *executor) abandon(to *model.Abstract) {
	p.abandoned = append(p.abandoned, p.abstract.IssuedOnly(to)...)
	p.abandoned = p.abandoned[max(0, len(p.abandoned)-maxAbandoned):]
}

// rollback goes back to a checkpoint, or loads what that saves. What was named since names
// nothing any more.
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
