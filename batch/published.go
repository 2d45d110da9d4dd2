package batch

import (
	"slices"

	"handloom/internal/highwater"
	"handloom/shard/handle"
)

// published holds the commands of the flushes of the current frame. Their provisional
// handles resolve until the next frame has flushed something.
type published struct {
	flushes []*Commands
	spare   []*Commands // commands of earlier frames, for reuse
	peak    highwater.Mark
}

const fewFlushes = 4 // flushes whose commands are always kept

// Publish ends the table's part of a flush: provisional handles of its creates resolve from
// now on. Handles of earlier flushes still resolve, unless this flush is the first of its
// frame.
func (r *Recorder) Publish(first bool) {
	p := &r.published
	if first {
		p.reset()
	}
	r.Pending.release()
	p.flushes = append(p.flushes, r.Pending)
	r.Pending = p.unused()
}

// unused returns commands for the next batch.
func (p *published) unused() *Commands {
	last := len(p.spare) - 1
	if last < 0 {
		return new(Commands)
	}
	c := p.spare[last]
	p.spare[last], p.spare = nil, p.spare[:last]
	return c
}

// reset drops the published commands. It keeps memory for as many flushes as recent frames
// had.
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

// Reset drops the planned commands and the commands of all flushes: nothing resolves.
func (r *Recorder) Reset() {
	r.Pending.Reset()
	r.published.reset()
}

// Trim releases the memory that commands keep between flushes. With keepHandles,
// provisional handles still resolve.
func (r *Recorder) Trim(keepHandles bool) {
	r.Pending, r.published.spare = new(Commands), nil
	if !keepHandles {
		r.published = published{}
		return
	}
	for _, c := range r.published.flushes {
		*c = Commands{recorder: c.recorder, order: c.order, createIndex: c.createIndex, created: c.created}
	}
}

// Published returns the commands of the flushes of the current frame that had commands for
// the table, in order.
func (r *Recorder) Published() []*Commands { return r.published.flushes }

// Resolve returns the handle of the item that a provisional handle created in a flush of
// the current frame. It returns null and true for a cancelled create, and false if id is of
// no such flush. It takes O(1) time per flush.
func (r *Recorder) Resolve(id handle.ID) (h handle.ID, ok bool) {
	flushes := r.published.flushes
	for i := len(flushes) - 1; i >= 0; i-- { // newest first: callers resolve every handle (op=replay)
		if _, creation, ok := flushes[i].locate(id); ok {
			return flushes[i].created[creation], true
		}
	}
	return 0, false
}
