package batch

import "handloom/shard/handle"

// Births calls visit with the items that the gathered batch created in the table, in key order,
// and their creates. Call and Sequence of creates of an input count over the whole input, as call
// 0. It takes O(creates) time, and is called when [Recorder.Trace] may be.
func (r *Recorder) Births(visit func(id handle.ID, c Command)) {
	if !r.Pending.begun {
		return
	}
	for buf := range r.batch.buffers {
		c := buf.column(r.ordinal)
		if c == nil || buf.state == dropped {
			continue
		}
		by := Command{Kind: Create}
		switch {
		case buf.owner != nil:
			by.Origin, by.Task = buf.owner.Origin, buf.task
		case buf != r.batch.input.buf:
			by.Call = buf.task + 1
		}
		for i := range c.segments[:c.used] {
			for _, id := range r.Pending.createdIn(c.segments[i].number) {
				if id != 0 {
					visit(id, by)
				}
				by.Sequence++
			}
		}
	}
}
