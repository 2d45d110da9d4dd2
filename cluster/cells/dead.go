package cells

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"handloom/store"
	"handloom/world"
)

// A DeadLetter is a message that was not received, because each tick that received it failed. A
// program reads it, repairs what it can, and erases it.
type DeadLetter[M any] struct {
	From    ID
	Number  uint64 // of the pair; Outbox.Skip is not needed
	Tick    uint64 // the last one that failed
	Error   string // of that tick, at most 1 KiB, without stack and addresses
	Message M
}

// DeadLetters returns the table of messages that were moved aside: see [Options.Tries]. It is
// part of the state, so each node of the cell has the same rows, and the text of an error must
// depend only on state and input, as a tick does: no times, for example. While the table has
// Options.Limit rows, further failing messages wait at their senders, and other pairs continue.
func (o *Outbox[M]) DeadLetters() *store.Table[DeadLetter[M]] { return o.dead }

// blame counts a failure of the next message of a pair, and moves it aside after enough of them.
func (o *Outbox[M]) blame(w *store.Writer, from *peer, m *numbered[M], tick uint64) {
	from.Tries++
	if from.Tries >= uint32(o.core.tries) && !o.deadFull() {
		o.dead.Insert(w, DeadLetter[M]{m.Cell, m.Number, tick, errorText(o.core.trial.err), m.Message})
		from.advance(m.Number)
	}
}

func (o *Outbox[M]) deadFull() bool { return o.dead.Len() >= o.core.limit }

const maxErrorText = 1 << 10

// address is a pointer in a text. It differs between nodes.
var address = regexp.MustCompile(`0x[0-9a-f]{6,}`)

// errorText returns a text that is equal on every node: a stack has folders of the build.
func errorText(err error) string {
	if tick, ok := errors.AsType[*world.TickError](err); ok {
		err = tick.Err
	}
	text := err.Error()
	if p, ok := errors.AsType[*store.PanicError](err); ok {
		text = fmt.Sprint("panic: ", p.Value)
	}
	text = address.ReplaceAllString(text, "0x...")
	return strings.ToValidUTF8(text[:min(len(text), maxErrorText)], "")
}
