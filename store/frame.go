package store

import (
	"context"

	"handloom/internal/check"
)

// frame is the outermost of a Frame, a Write, a Run of a schedule and a Flush, or a tick of
// package world.
type frame struct {
	number  uint64 // unique in the store; 0: never begun
	sealed  bool   // the inbox is sealed, which is done once per frame
	refused error  // error of the first failed Insert

	waitedFor bool // a call of Submit waits for its end
}

func (f *frame) begin(s *Store) { f.number, f.sealed, f.refused = s.frames.Add(1), false, nil }

// seal adds the waiting calls of the inbox to the batch, once per frame: which flush of
// the frame applies a call must not depend on its arrival time.
func (f *frame) seal(s *Store) {
	if !f.sealed {
		f.sealed = true
		s.batch.Seal()
	}
}

// frameOf returns the frame of a flush in phase p: the frame of the Frame or Run around it,
// or a new one.
func (s *Store) frameOf(p *phase) *frame {
	if p.outer != nil {
		return p.outer.frame
	}
	s.flush.singleFrame.begin(s)
	return &s.flush.singleFrame
}

// Frame holds the store alone, calls fn, and flushes. Passes, flushes, schedules,
// orderings, checkpoints, rollbacks, snapshots, Load, Reduce, Digest and Verify join it
// through fn's context, one at a time, so that a whole tick can be one phase. w changes
// tables at once. All of it is one frame.
//
// Frame returns the report of its flush, which is valid until the next flush. It does not
// flush if fn or an Insert fails, or ctx ends before the store is free; it returns the
// error of fn, else the first error of an Insert, or the cause of ctx. The commands since
// the last flush of fn are then dropped, and immediate changes stay. If the flush itself
// fails, the batch is kept, as by [Store.Flush].
func (s *Store) Frame(ctx context.Context, fn func(ctx context.Context, w *Writer) error) (*Report, error) {
	check.Given(fn != nil, "store: Frame", "function")
	y, err := s.beginWriting(ctx, opFrame)
	if err != nil {
		return nil, err
	}
	defer y.end()
	if err := y.run(fn); err != nil {
		return nil, err
	}
	return s.endFrame(&y.phase)
}

// run calls the function of a Frame. If it or an Insert fails, the commands since its last
// flush are dropped.
func (y *writing) run(fn func(ctx context.Context, w *Writer) error) error {
	b := y.phase.store.batch
	mark, failed := b.Mark(), true
	defer func() {
		if failed { // or fn panics
			b.DropSince(mark)
		}
	}()
	err := fn(&y.phase, &y.writer)
	if err == nil {
		err = y.frame.refused
	}
	failed = err != nil
	return err
}

// endFrame flushes for a Frame that ends in phase p.
func (s *Store) endFrame(p *phase) (*Report, error) {
	inner, err := s.enterFlush(p)
	if err != nil {
		return nil, err
	}
	s.flush.endUnread()
	return s.flushIn(inner)
}
