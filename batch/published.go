package batch

import (
	"slices"

	"handloom/handle"
	"handloom/internal/highwater"
)

// published are the commands of the current frame's flushes. A frame with several flushes
// has one element for each flush with commands for the table.
type published struct {
	flushes []*Commands
	spare   []*Commands // for reuse
	peak    highwater.Mark
}

const fewFlushes = 4 // flushes that are always kept

// Publish ends the table's part of a flush: handles of its creates resolve. Handles of
// earlier flushes still do, unless this flush is the first of its frame.
func (r *Recorder) Publish(first bool) {
	p := &r.published
	if first {
		p.reset()
	}
	// The next batch writes into the arrays of the queues; the handles are copied and stay.
	r.Pending.release()
	p.flushes = append(p.flushes, r.Pending)
	r.Pending = p.unused()
}

// unused returns commands for the next flush, with the memory of an earlier frame if
// possible.
func (p *published) unused() *Commands {
	last := len(p.spare) - 1
	if last < 0 {
		return new(Commands)
	}
	c := p.spare[last]
	p.spare[last], p.spare = nil, p.spare[:last]
	return c
}

// reset ends the frame of the commands: their handles do not resolve any longer.
func (p *published) reset() {
	for i, c := range p.flushes {
		c.Reset()
		p.spare = append(p.spare, c)
		p.flushes[i] = nil
	}
	if len(p.spare) > fewFlushes {
		if keep := p.peak.Note(len(p.flushes), fewFlushes); len(p.spare) > keep {
			p.spare = slices.Delete(p.spare, keep, len(p.spare))
		}
	}
	p.flushes = p.flushes[:0]
}

// Reset drops planned and published commands: nothing resolves.
func (r *Recorder) Reset() {
	r.Pending.Reset()
	r.published.reset()
}

// Trim releases memory between flushes. With keepHandles, handles still resolve.
func (r *Recorder) Trim(keepHandles bool) {
	r.Pending, r.published.spare = new(Commands), nil
	if !keepHandles {
		r.published = published{}
		return
	}
	for _, c := range r.published.flushes {
		// locate needs these fields, and Created the handles.
		*c = Commands{recorder: c.recorder, order: c.order, createIndex: c.createIndex, created: c.created}
	}
}

// Published returns the commands of the current frame's flushes, in order.
func (r *Recorder) Published() []*Commands { return r.published.flushes }

// Resolve returns the handle that a provisional handle became in a flush of the current
// frame: null and true for a cancelled create, false if unknown. It takes O(1) time per
// flush.
func (r *Recorder) Resolve(id handle.ID) (h handle.ID, ok bool) {
	flushes := r.published.flushes
	for i := len(flushes) - 1; i >= 0; i-- { // newest first: op=replay
		if _, creation, ok := flushes[i].locate(id); ok {
			return flushes[i].created[creation], true
		}
	}
	return 0, false
}
