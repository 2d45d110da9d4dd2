package nemesis

import (
	"context"
	"errors"
	"strconv"

	"handloom/cluster"
	"handloom/world"
)

// call makes calls, one after another, each with its own key, until ctx ends, and reports them to
// the auditor.
func (r *run) call(ctx context.Context, c *cluster.Client, client int) {
	for key := uint64(client+1)<<40 + 1; ctx.Err() == nil; key++ {
		r.auditor.Asked(key)
		reply, err := c.Call(ctx, cell, strconv.AppendUint(nil, key, 10))
		if ctx.Err() != nil || errors.Is(err, world.ErrExpired) {
			continue
		}
		tick, wrong := strconv.ParseUint(string(reply), 10, 64)
		if err != nil || wrong != nil {
			r.Fault("call %x: got %q, %v", key, reply, err)
			return
		}
		r.auditor.Acked(key, tick)
	}
}
