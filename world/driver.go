package world

import (
	"context"
	"io"
	"time"

	"handloom/internal/entry"
	"handloom/internal/hook"
)

func init() {
	hook.NewDriver = func(r any) hook.Driver { return driver{r.(*Replayer)} }
}

// A driver is the [hook.Driver] of a Replayer.
type driver struct{ *Replayer }

func (d driver) Input(ctx context.Context) ([][]hook.Command, error) {
	input, err := d.nextInput(ctx)
	if err != nil {
		return nil, err
	}
	return d.world.exclusive.Decode(ctx, input)
}

func (d driver) Run(ctx context.Context, tick, seed uint64, at time.Time, calls [][]hook.Command) error {
	w := d.world
	if err := w.stopped(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	input, err := w.exclusive.Encode(calls)
	if err != nil {
		return err
	}
	h := w.at()
	h.tick, h.Seed, h.Time = tick, seed, at.UnixNano()
	w.skips, d.edited, d.edit = nil, true, nil
	return w.applyTick(ctx, h, input, origin{replay: true, edited: true})
}

func (d driver) Begin(ctx context.Context) error {
	if err := d.leave(); err != nil { // begin saves
		return err
	}
	return d.world.begin(ctx)
}

func (d driver) WriteState(ctx context.Context, w io.Writer) error {
	var i snapshot
	if err := d.world.copyInto(ctx, &i); err != nil {
		return err
	}
	h := i.position
	i.position = position{tick: h.tick, Trailer: entry.Trailer{Seed: h.Seed, Time: h.Time}}
	return i.writeTo(w)
}

func (d driver) Tables() []hook.Table { return d.world.exclusive.Tables() }
