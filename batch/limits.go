package batch

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// Limits bound recorded commands. 0: no limit.
type Limits struct {
	QueueCommands int   // per queue or call of the inbox
	QueueBytes    int64 // per queue or call of the inbox
	BatchCommands int   // at the start of a pass or call
	BatchBytes    int64 // at the start of a pass or call
	InboxCommands int   // all calls that wait for a flush

	// InReduce reports, in builds with handloom_check, whether the calling goroutine runs
	// the function of a Reduce; nil: never.
	InReduce func() bool
}

// Load is an amount of commands. Bytes count values and handles, not array capacity.
type Load struct {
	Commands int
	Bytes    int64
}

func (l *Load) add(o Load) {
	l.Commands += o.Commands
	l.Bytes += o.Bytes
}

func (l *Load) subtract(o Load) {
	l.Commands -= o.Commands
	l.Bytes -= o.Bytes
}

// tally is a Load that the inbox reads while passes end.
type tally struct{ commands, bytes atomic.Int64 }

func (t *tally) add(o Load) {
	t.commands.Add(int64(o.Commands))
	t.bytes.Add(o.Bytes)
}

func (t *tally) load() Load { return Load{int(t.commands.Load()), t.bytes.Load()} }

func (t *tally) reset() {
	t.commands.Store(0)
	t.bytes.Store(0)
}

// within reports whether the load is at most both limits.
func (l Load) within(commands int, bytes int64) bool {
	return (commands == 0 || l.Commands <= commands) && (bytes == 0 || l.Bytes <= bytes)
}

// ofQueue returns the limits of a queue in words.
func (l Limits) ofQueue() string {
	if l.QueueBytes == 0 {
		return fmt.Sprintf("%d commands", l.QueueCommands)
	}
	return fmt.Sprintf("%d commands or %d bytes", l.QueueCommands, l.QueueBytes)
}

// ofBatch reports whether the batch has a limit.
func (l Limits) ofBatch() bool { return l.BatchCommands > 0 || l.BatchBytes > 0 }

// admit returns an error if the batch holds its limit or more. The limit is compared before
// a pass or call, whose size is unknown, so a batch may exceed it.
func (l Limits) admit(load Load) error {
	if (l.BatchCommands == 0 || load.Commands < l.BatchCommands) && (l.BatchBytes == 0 || load.Bytes < l.BatchBytes) {
		return nil
	}
	return fmt.Errorf("%w: the batch holds %d commands of %d bytes; its limits are %d and %d (0: none); flush first",
		ErrQueueFull, load.Commands, load.Bytes, l.BatchCommands, l.BatchBytes)
}

// inbox returns an error if the inbox is full before a call records.
func (l Limits) inbox(held int) error {
	if limit := l.InboxCommands; limit > 0 && held >= limit {
		return fmt.Errorf("%w: the inbox holds %d commands, its limit is %d; flush first", ErrQueueFull, held, limit)
	}
	return nil
}

// arrive returns an error if the recorded call does not fit. Other calls may have arrived
// since inbox was asked.
func (l Limits) arrive(held, commands int) error {
	if limit := l.InboxCommands; limit > 0 && held+commands > limit {
		return fmt.Errorf("%w: %d commands and the %d of this call exceed the limit %d of the inbox; flush more often, or raise the limit", ErrQueueFull, held, commands, limit)
	}
	return nil
}

// overflow returns the error of a call that exceeds the limit of a queue.
func (l Limits) overflow() error {
	return fmt.Errorf("%w: the call recorded more than %v; record in more calls, or raise the limit", ErrQueueFull, l.ofQueue())
}

// idBytes is the size of a handle, in limits of bytes.
const idBytes = 8

const fewBuffers = 16 // always kept

// grow at least doubles the capacity.
func grow[E any](s []E, n int) []E {
	if cap(s)-len(s) >= n {
		return s
	}
	return slices.Grow(s, max(n, len(s), 32))
}
