package batch

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"handloom/handle"
)

// ErrQueueFull means that a queue, the inbox or the batch is at its limit. A pass wraps it
// with task and limit.
var ErrQueueFull = errors.New("queue is full")

// Counts are the outcomes of the commands of a batch. Each command is in exactly one of the
// first nine counters (B1), except the first EraseAll of a table: it counts as an erase of
// each item.
type Counts struct {
	Created      int `json:"created"`       // created items, without cancelled creates
	Erased       int `json:"erased"`        // erased items of earlier batches
	Unset        int `json:"unset"`         // sparse data removed by an Unset
	Put          int `json:"put"`           // replaced items, including created ones; column elements and sparse data that were set
	Superseded   int `json:"superseded"`    // puts replaced by a later put to the same item; also Sets and Unsets
	Dropped      int `json:"dropped"`       // puts to an item erased in the same batch; also Sets and Unsets; all commands of calls that did not fit
	Redundant    int `json:"redundant"`     // erases of items that another command erased; Unsets without a value to remove
	Stale        int `json:"stale"`         // commands whose handle named no item
	CancelledOut int `json:"cancelled_out"` // creates erased in the same batch, and the first erase of each

	Dangling int `json:"dangling"` // provisional handles in values whose target was cancelled or unknown; now null
	Depleted int `json:"depleted"` // slots that used their last generation
}

// Commanded returns the number of commands (B1). Dangling and Depleted count no commands.
func Commanded(c Counts) int {
	return c.Created + c.Erased + c.Unset + c.Put + c.Superseded + c.Dropped + c.Redundant + c.Stale + c.CancelledOut
}

// Add adds the counts of another table or flush.
func (c *Counts) Add(o Counts) {
	c.Created += o.Created
	c.Erased += o.Erased
	c.Unset += o.Unset
	c.Put += o.Put
	c.Superseded += o.Superseded
	c.Dropped += o.Dropped
	c.Redundant += o.Redundant
	c.Stale += o.Stale
	c.CancelledOut += o.CancelledOut
	c.Dangling += o.Dangling
	c.Depleted += o.Depleted
}

// counter is a counter with its JSON name.
type counter struct {
	name  string
	value int
}

// nonzero returns the counters that are not 0, in the order of the fields.
func (c Counts) nonzero() []counter {
	all := []counter{
		{"created", c.Created},
		{"erased", c.Erased},
		{"unset", c.Unset},
		{"put", c.Put},
		{"superseded", c.Superseded},
		{"dropped", c.Dropped},
		{"redundant", c.Redundant},
		{"stale", c.Stale},
		{"cancelled_out", c.CancelledOut},
		{"dangling", c.Dangling},
		{"depleted", c.Depleted},
	}
	return slices.DeleteFunc(all, func(c counter) bool { return c.value == 0 })
}

// String returns the counters that are not 0, such as "3 created 1 cancelled
// out", or "nothing".
func (c Counts) String() string {
	var b strings.Builder
	for i, counter := range c.nonzero() {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d %s", counter.value, strings.ReplaceAll(counter.name, "_", " "))
	}
	return cmp.Or(b.String(), "nothing")
}

// inboxPass is the pass of the inbox in a [Sample], after all others. The task is the
// call's index in its flush.
const inboxPass = math.MaxInt32

// Kind is the kind of a command.
type Kind uint8

const (
	Erase Kind = iota
	Put
	Set
	Unset
	Create // of a [Command]; a [Sample] is never a create
)

var kindNames = []string{Erase: "erase", Put: "put", Set: "set", Unset: "unset", Create: "create"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// MarshalText returns the name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText sets k from its name. On error k is unchanged.
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames, string(text))
	if i < 0 {
		return fmt.Errorf("batch: unknown kind %q, want one of %q", text, kindNames)
	}
	*k = Kind(i)
	return nil
}

// Sample is one stale command: its target and its source.
type Sample struct {
	Handle   handle.ID `json:"handle"`
	TypeID   uint16    `json:"type_id"` // typeId of the shard that did not find the item
	Kind     Kind      `json:"kind"`
	Pass     int       `json:"pass"` // key of the queue: Pass, Task
	Task     int       `json:"task"`
	Sequence int       `json:"sequence"` // index among the queue's commands of this kind to TypeID, Sets and Unsets together; erases by row come last

	Column string `json:"column,omitempty"` // column or sparse data of a Set or Unset
}

// String returns, for example, "erase of 7:42.3 by task 2 in pass 0 (typeId 7, sequence
// 5)".
func (s Sample) String() string {
	by := fmt.Sprintf("task %d in pass %d", s.Task, s.Pass)
	if s.Pass == inboxPass {
		by = fmt.Sprintf("call %d of the inbox", s.Task)
	}
	what := s.Kind.String()
	if s.Column != "" {
		what += fmt.Sprintf(" of column %q", s.Column)
	}
	return fmt.Sprintf("%s of %v by %s (typeId %d, sequence %d)", what, s.Handle, by, s.TypeID, s.Sequence)
}

// compare orders samples by place, so that the lowest ones do not depend on the order in
// which shards report.
func (s Sample) compare(o Sample) int {
	return cmp.Or(
		cmp.Compare(s.TypeID, o.TypeID), cmp.Compare(s.Kind, o.Kind), cmp.Compare(s.Column, o.Column),
		cmp.Compare(s.Pass, o.Pass), cmp.Compare(s.Task, o.Task), cmp.Compare(s.Sequence, o.Sequence))
}
