package world

import (
	"context"
	"io"
	"time"

	"handloom/internal/entrance"
	"handloom/internal/entry"
)

// Entrance is for package history; programs cannot call it.
func (r *Replayer) Entrance(entrance.Key) entrance.Driver { return driver{r} }

// A driver is the [entrance.Driver] of a Replayer.
type driver struct{ *Replayer }

func (d driver) SkipDigests() { d.skip = true }

// Round adds the ticks that may lack a record.
func (d driver) Round() int {
	o := &d.world.o
	return o.DigestTicks + int(int64(o.Hz)*int64(o.Idle)/int64(time.Second)) + 1
}

func (d driver) Input(ctx context.Context) ([][]entrance.Command, error) {
	input, err := d.nextInput(ctx)
	if err != nil {
		return nil, err
	}
	return d.world.exclusive.Decode(ctx, input)
}

// nextInput returns the logged input of the next tick, valid until the next read of a record.
func (r *Replayer) nextInput(ctx context.Context) ([]byte, error) {
	if err := r.world.stopped(); err != nil {
		return nil, err
	}
	h := r.world.at()
	for at := h.at + 1; ; at++ {
		b, _, err := r.ahead.record(ctx, at)
		if err != nil {
			return nil, err
		}
		var rec entry.Record
		if err := rec.Decode(b); err != nil {
			return nil, corrupt(at, "%w", err)
		}
		if rec.Idle > h.Idle { // a tick without a record
			return nil, nil
		}
		if rec.Kind == entry.KindTick {
			return rec.Input, nil
		}
		h.Idle = 0
	}
}

func (d driver) Run(ctx context.Context, tick, seed uint64, at time.Time, calls [][]entrance.Command) error {
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
	w.skips = nil
	return w.applyTick(ctx, h, input, origin{replay: true})
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

func (d driver) Tables() []entrance.Table { return d.world.exclusive.Tables() }
