package store

import (
	"context"

	"handloom/batch"
	"handloom/internal/check"
)

// frame is the outermost of a Frame, a Write, a Run of a schedule and a Flush, or the part
// of a Frame between two calls of [Writer.EndFrame]. To the outside it is one change, for any
// number of flushes.
type frame struct {
	number  uint64     // no other frame of the store has it; 0: never begun
	sealed  bool       // the inbox, which is sealed once in a frame
	follows *Report    // of the EndFrame that began it
	refused error      // of the first Insert that failed
	mark    batch.Mark // of its beginning, in a Frame

	waitedFor bool // by calls of Submit that a flush of it applied
}

func (f *frame) begin(s *Store) { f.number, f.sealed, f.refused = s.frames.Add(1), false, nil }

// seal hands the calls of the inbox that have returned to the batch, unless a flush of
// the frame did so before: which of its flushes applies a call must not depend on when
// that call came.
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

// Frame holds the store alone, calls fn, and flushes. Passes, flushes, schedules, orderings,
// checkpoints, Reduce, Digest and Verify inside of fn join through the context that fn is
// given, one after another, so that a whole tick can be one phase and readers see whole
// ticks. w changes tables at once. All of it is one frame, unless [Writer.EndFrame] ends it
// before.
//
// Frame returns the report of its flush, which is good until the next flush. Three errors
// keep it from flushing: the error of fn, else the first error of an Insert, and the cause
// of ctx if ctx ends before the store is free. Then the commands that fn recorded since its
// last flush are dropped, and immediate changes stay. If the flush itself fails, the batch
// is kept, as by [Store.Flush].
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
// EndFrame, without a pass or flush in between, does not flush again and returns the same
// report.
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
