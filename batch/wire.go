package batch

import "runtime"

// Wire finds the place in the program at which a task records a command. A queue with a Wire has no
// shares, so that each command takes the slow path, which calls [buffer.take].
type Wire struct {
	recorder *Recorder
	command  Command
	callers  [32]uintptr
	n        int
}

// Wire watches for a command that the task of a pass is about to record again, in the table of r.
// The commands are the same as without. It is called before the task.
func (p *Pass) Wire(task int, r *Recorder, c Command) *Wire {
	w := &Wire{recorder: r, command: c}
	buf := &p.buffers[:p.tasks][task]
	buf.wires = append(buf.wires, w)
	return w
}

// Unwire removes the wires of a task.
func (p *Pass) Unwire(task int) { p.buffers[:p.tasks][task].wires = nil }

// Callers returns the stack of the call that recorded the command, as [runtime.Callers] does.
func (w *Wire) Callers() []uintptr { return w.callers[:w.n] }

// trip keeps the stack of each command until the one it waits for is recorded.
func (buf *buffer) trip() {
	for _, w := range buf.wires {
		if w.recorded(buf) <= w.command.at {
			// A later command overwrites the stack until the number exceeds at. The last
			// stack is of the wanted command.
			w.n = runtime.Callers(2, w.callers[:])
		}
	}
}

// recorded returns the number of commands in the series of the command.
func (w *Wire) recorded(buf *buffer) int {
	by := w.command.series
	if !by.staged {
		return w.recorder.length(buf, by)
	}
	number := w.recorder.attachments[by.attachment].number
	if number >= len(buf.sets) || buf.sets[number] == nil {
		return 0
	}
	return buf.sets[number].countOf(w.command.place)
}
