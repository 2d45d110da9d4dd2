package history

import (
	"fmt"
	"strings"

	"handloom/internal/entrance"
	"handloom/store"
)

// A Change is a change of an item, an element of a column, sparse data or one field. It lies between
// two boundaries of a tick: see [History.Changes].
type Change struct {
	Tick  uint64
	Item  store.ID
	Field string // "": the item; the name of a column or sparse data; else the field that was asked for

	// From and To are texts as %+v prints them, with strings in quotes. "" means that there is no
	// item, or no sparse data.
	From, To string
	By       Cause
}

// A Cause is the command that a flush applied, or the place of a write. Nothing in it is inferred:
// the command named the item, and a write is known up to the boundaries around it.
type Cause struct {
	// Kind is "create", "put", "erase", "erase all", "set" or "unset" for a command, "at once" for
	// an operation of a Writer or an Exchange, and "in place" for any other write.
	Kind   string
	System string // system of a schedule that recorded or wrote; "": none
	Phase  string // kind of the pass, or the operation; for code outside of both, the boundaries around it

	// Where is the file and line of the program: of the call that recorded the command, that began
	// the pass of an erase by row or of a write, or that wrote at once. It is "" for commands of
	// [store.Store.Queues] and of the input, and for code between two boundaries.
	Where string

	Pass     int // number of the pass in its tick, from 0; -1: none
	Task     int // number of the task in the pass; -1: none
	Sequence int // of the command, as in [store.Report]; within Call, if that is set; -1: none
	Call     int // number of the call of Submit in the input of the tick, from 1; 0: none

	// Lost are the other commands of the flush for the same value, which had no effect on it, in
	// the order of the flush.
	Lost []Cause
}

// String returns the change in one line, such as
//
//	tick 88214, 3:17.2 Gold: 45 -> 1045, put #0 of task 1 in pass 3 (ForEach), system "mend", game.go:230
func (c Change) String() string {
	name := c.Item.String()
	if c.Field != "" {
		name += " " + c.Field
	}
	return fmt.Sprintf("tick %d, %s: %s -> %s, %v", c.Tick, name, orNothing(c.From), orNothing(c.To), c.By)
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

// String returns the cause in one line, without Lost.
func (c Cause) String() string {
	var b strings.Builder
	b.WriteString(c.Kind)
	if c.Sequence >= 0 {
		fmt.Fprintf(&b, " #%d of ", c.Sequence)
	} else {
		b.WriteString(", ")
	}
	switch {
	case c.Call > 0:
		fmt.Fprintf(&b, "call %d of the input", c.Call)
	case c.Task >= 0:
		fmt.Fprintf(&b, "task %d in pass %d (%s)", c.Task, c.Pass, c.Phase)
	default:
		b.WriteString(c.Phase)
	}
	if c.System != "" {
		fmt.Fprintf(&b, ", system %q", c.System)
	}
	if c.Where != "" {
		fmt.Fprintf(&b, ", %s", c.Where)
	}
	return b.String()
}

func causeOf(c *entrance.Cause) Cause {
	return Cause{
		Kind: c.Kind, System: c.System, Phase: c.Phase, Where: c.Where, Pass: c.Pass, Task: c.Task, Sequence: c.Sequence, Call: c.Call,
	}
}

func changeOf(tick uint64, item store.ID, c *entrance.Change) Change {
	all := Change{Tick: tick, Item: item, Field: c.Field, From: c.From, To: c.To, By: causeOf(&c.By)}
	for i := range c.Lost {
		all.By.Lost = append(all.By.Lost, causeOf(&c.Lost[i]))
	}
	return all
}
