package world

import (
	"bytes"
	"context"

	"handloom/internal/check"
	"handloom/internal/entry"
	"handloom/store"
)

// An edit is the input of a tick instead of the log's.
type edit struct{ input []byte }

// Calls returns the number of calls in the logged input of the next tick. It returns [io.EOF] if
// the log had no further tick at Start, and the errors of Next for records.
func (r *Replayer) Calls(ctx context.Context) (n int, err error) {
	check.Given(ctx != nil, "world: Calls", "context")
	input, err := r.nextInput(ctx)
	if err != nil {
		return 0, err
	}
	_, n, err = r.world.exclusive.Edit(ctx, input, nil, nil)
	return n, err
}

// Edit changes the input of the next tick, whose number, Seed and Time stay, as do all of the
// later ones: keep reports whether a logged call stays, by its number from 0, and each function of
// add records a further call after them, as for [World.Submit]. A nil keep keeps all. Another
// Edit replaces this one. The later records' digests are not compared from then on, unless the
// input is the same. After an error, which may be one of add, or a panic of add the input is as
// before.
func (r *Replayer) Edit(ctx context.Context, keep func(call int) bool, add ...func(q store.Queue) error) error {
	check.Given(ctx != nil, "world: Edit", "context")
	input, err := r.nextInput(ctx)
	if err != nil {
		return err
	}
	var added []byte
	for _, fn := range add {
		call, err := r.encode(ctx, fn)
		if err != nil {
			return err
		}
		if added, _, err = r.world.exclusive.Edit(ctx, added, nil, call); err != nil {
			return err
		}
	}
	edited, _, err := r.world.exclusive.Edit(ctx, input, keep, added)
	if err != nil {
		return err
	}
	if r.edit = nil; !bytes.Equal(edited, input) {
		r.edit = &edit{edited}
	}
	return nil
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

// encode returns the input of one call, or nil if the call records nothing. fn runs on the caller's
// goroutine, where its panic belongs, while another goroutine seals.
func (r *Replayer) encode(ctx context.Context, fn func(q store.Queue) error) (input []byte, err error) {
	claim, done, sealed := r.world.exclusive, make(chan bool), make(chan bool)
	go func() {
		defer close(sealed)
		for {
			select {
			case <-claim.Arrived():
				part, calls := claim.Seal(nil, entry.MaxInput)
				calls.Done(0, nil)
				input = append(input, part...)
			case <-done:
				return
			}
		}
	}()
	err = func() error {
		defer func() {
			close(done)
			<-sealed
		}()
		_, err := claim.Submit(ctx, r.world.life, fn)
		return err
	}()
	return input, err
}
