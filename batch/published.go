package batch

import (
	"slices"

	"handloom/internal/highwater"
	"handloom/shard/handle"
)

// published are the commands of the flushes of a frame so far, in their order. Their
// provisional handles resolve, until the next frame has flushed something.
type published struct {
	flushes []*Commands
	spare   []*Commands // those of frames before, to be used again
	peak    highwater.Mark
}

const fewFlushes = 4 // of a frame, whose commands are kept anyway

// Publish ends the table's part of a flush: provisional handles of its creates resolve
// from now on, and those of the flushes before as well, unless this is the first of its
// frame.
func (r *Recorder) Publish(first bool) {
	p := &r.published
	if first {
		p.forget()
	}
	r.Pending.release()
	p.flushes = append(p.flushes, r.Pending)
	r.Pending = p.unused()
}

// unused returns commands to gather the next batch in.
func (p *published) unused() *Commands {
	last := len(p.spare) - 1
	if last < 0 {
		return new(Commands)
	}
	c := p.spare[last]
	p.spare[last], p.spare = nil, p.spare[:last]
	return c
}

// forget drops what was published. It keeps the memory for as many flushes as recent
// frames had.
func (p *published) forget() {
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

// Reset drops the planned commands and those of all flushes: nothing resolves any more.
func (r *Recorder) Reset() {
	r.Pending.Reset()
	r.published.forget()
}

// Trim gives up the memory that commands keep from one flush to the next. Provisional
// handles still resolve with keepHandles, and no more without.
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

// Published returns the commands of the flushes of the frame so far that had some for
// the table, in their order.
func (r *Recorder) Published() []*Commands { return r.published.flushes }

// Resolve returns the handle of the item that the provisional handle id was recorded
// for, in a flush of the frame so far, or null when the create was cancelled; ok is false
// when id is of no such flush. It takes O(1) time for each of them.
func (r *Recorder) Resolve(id handle.ID) (h handle.ID, ok bool) {
	flushes := r.published.flushes
	for i := len(flushes) - 1; i >= 0; i-- { // programs resolve every name (op=replay)
		if _, creation, ok := flushes[i].locate(id); ok {
			return flushes[i].created[creation], true
		}
	}
	return 0, false
}
