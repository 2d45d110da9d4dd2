package store

import (
	"context"

	"handloom/batch"
	"handloom/internal/check"
)

// frame is the outermost of a Frame, a Write, a Run of a schedule and a Flush, or the
// part of a Frame between two calls of [Writer.EndFrame].
type frame struct {
	number  uint64     // unique in the store; 0: never begun
	sealed  bool       // the inbox is sealed, which is done once per frame
	follows *Report    // report of the EndFrame that began it
	refused error      // error of the first failed Insert
	mark    batch.Mark // the batch at its beginning, in a Frame

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
// tables at once. All of it is one frame, unless [Writer.EndFrame] ends it before.
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
	y.frame.mark = s.batch.Mark()
	failed := true
	defer func() {
		if failed { // or fn panics
			s.batch.DropSince(y.frame.mark)
		}
	}()
	if err := fn(&y.phase, &y.writer); err != nil {
		return nil, err
	}
	if y.frame.refused != nil {
		return nil, y.frame.refused
	}
	failed = false
	if last := y.frame.follows; last != nil && !y.frame.sealed && y.frame.mark == s.batch.Mark() {
		return last, nil
	}
	return s.endFrame(&y.phase)
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

// EndFrame flushes as the end of a [Store.Frame] does, ends the frame and begins the next
// one, for a loop that lives in one Frame. Calls of Submit that the frame applied return; a
// Read waits until the Frame has ended. A Frame whose function returns after an
// EndFrame, without a pass, flush or Rollback in between, does not flush again and
// returns the same report.
//
// EndFrame takes O(1) time for each such call, and the time of the flush. If an Insert
// failed before, or the flush fails, it returns that error and the frame continues. It
// panics when w is not in its Frame, or a pass or flush runs in it.
func (w *Writer) EndFrame() (*Report, error) {
	w.check("EndFrame")
	p := w.phase
	if p.op != opFrame {
		panic("store: EndFrame inside a Write; use it inside a Frame")
	}
	if p.frame.refused != nil {
		return nil, p.frame.refused
	}
	r, err := p.store.endFrame(p)
	if err != nil {
		return nil, err
	}
	s, f := p.store, p.frame
	s.receipts.end(f)
	f.begin(s)
	f.mark, f.follows = s.batch.Mark(), r
	return r, nil
}
