package store

// frame is the outermost of a Write, a Run of a schedule and a Flush, or the part of
// a Write between two calls of [Writer.EndFrame]. What it did is one thing to the
// outside, however many flushes it had.
//
// Each of them has a frame of its own, which begins with a new number.
type frame struct {
	number uint64 // no other frame of the store has it; 0: never begun
	sealed bool   // the inbox, which is sealed once in a frame

	waitedFor bool // by calls of Submit that a flush of it applied
}

func (f *frame) begin(s *Store) { f.number, f.sealed = s.frames.Add(1), false }

// seal hands the calls of the inbox that have returned to the batch, unless a flush of
// the frame did so before: which of its flushes applies a call must not depend on when
// that call came.
func (f *frame) seal(s *Store) {
	if !f.sealed {
		f.sealed = true
		s.batch.Seal()
	}
}

// frameOf returns the frame that a flush in phase p is part of: that of the Write or
// Run around it, or own, which begins then.
func (s *Store) frameOf(p *phase) *frame {
	if p.outer != nil {
		return p.outer.frame
	}
	s.flush.singleFrame.begin(s)
	return &s.flush.singleFrame
}

// EndFrame ends the frame, of which a Write is one otherwise, and begins the next: a
// loop that lives in one Write calls it behind each turn. What a frame is to whom, the
// package comment says. Calls of Submit that the frame applied return; a Read waits until
// the Write has ended. EndFrame takes O(1) time, and O(1) for each such call. It panics
// when w is not in its Write, or a pass or flush runs in it.
func (w *Writer) EndFrame() {
	w.check("EndFrame")
	s, f := w.phase.store, w.phase.frame
	s.receipts.end(f)
	f.begin(s)
}
