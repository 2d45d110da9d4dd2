package batch

import (
	"cmp"
	"slices"

	"handloom/shard/handle"
)

// Counts say what became of the commands of a batch. Each command is in exactly
// one of the first eight counters (B1).
type Counts struct {
	Created      int // items that live now
	Erased       int // items that lived before
	Put          int // items that were replaced, created ones included
	Superseded   int // puts that a later put to the same item replaced
	Dropped      int // puts to an item that was erased in the same batch
	Redundant    int // erases of an item that another command erased already
	Stale        int // commands whose handle named no item
	CancelledOut int // creates erased in the same batch, and the first erase of each

	Dangling int // provisional handles in values whose target was cancelled or unknown; now null
	Depleted int // slots that used their last generation
}

// Commands returns the number of commands counted.
func (c Counts) Commands() int {
	return c.Created + c.Erased + c.Put + c.Superseded + c.Dropped + c.Redundant + c.Stale + c.CancelledOut
}

// Add adds the counters of o.
func (c *Counts) Add(o Counts) {
	c.Created += o.Created
	c.Erased += o.Erased
	c.Put += o.Put
	c.Superseded += o.Superseded
	c.Dropped += o.Dropped
	c.Redundant += o.Redundant
	c.Stale += o.Stale
	c.CancelledOut += o.CancelledOut
	c.Dangling += o.Dangling
	c.Depleted += o.Depleted
}

// Kind is the kind of a command.
type Kind uint8

// The kinds, in the order in which samples of stale commands list them.
const (
	Erase Kind = iota
	Put
)

// String returns the name of the kind.
func (k Kind) String() string { return [...]string{"erase", "put"}[k] }

// Sample is one stale command: what it named and where it was recorded.
type Sample struct {
	Handle   handle.ID
	TypeID   uint16 // of the shard that did not find the item
	Kind     Kind
	Pass     int // the key of the queue
	Task     int
	Sequence int // position among the queue's commands of that kind to that typeId
}

// MaxSamples is how many stale commands a report keeps.
const MaxSamples = 8

// Compare orders samples by typeId, kind, key and sequence.
func (s Sample) Compare(o Sample) int {
	return cmp.Or(
		cmp.Compare(s.TypeID, o.TypeID), cmp.Compare(s.Kind, o.Kind),
		cmp.Compare(s.Pass, o.Pass), cmp.Compare(s.Task, o.Task), cmp.Compare(s.Sequence, o.Sequence))
}

// KeepLowest sorts samples and cuts them to the lowest [MaxSamples].
func KeepLowest(samples []Sample) []Sample {
	slices.SortFunc(samples, Sample.Compare)
	return samples[:min(len(samples), MaxSamples)]
}
