package model

// Seen is a rare state or event. A run that never came to one that it promises
// has not tested what it says.
type Seen int

// The states and events that are counted.
const (
	Depletion Seen = iota
	HoldBack
	GaveWay
	SlotLimit
	SlotLimitDepleting
	ItemLimit
	QueueLimit
	BatchLimit
	InboxLimit
	RemoveLast
	RemoveOnly
	Annihilated
	Superseded
	Dropped
	Redundant
	StaleReused
	StaleDepleted
	ForgedVacant
	ForgedFree
	StaleProvisional
	ForeignHandle
	UnknownSlot
	ChunkFull
	ChunkOneMore
	ManyChunks
	UnevenDeal
	ResetDropped
	ResetCleared
	AboveFloor
	SelfLink
	LinkAcross
	LinkDangling
	PutToCreate
	StagedValue
	CancelBefore
	CancelInPlan
	CancelTooLate
	LinkPanic
	TaskError
	TaskPanic
	TaskGoexit
	CallbackPanic
	WriteFailed
	EmptyFlush
	DiscardedBatch
	DefragmentPaused
	DefragmentDone
	CloneDiverged
	InboxCall
	CheckpointTaken
	RolledBack
	RolledBackOverDepletion
	RolledBackOverBatch
	ScheduleRun
	ManyTables
	SecondSegment
	MisuseRefused
	Rested
	SortedBlocks
	InboxBytes
	AboveMax
	NestedRefused
	FieldsDigested
	LateCall
	SharedLinks
	Refilled
	WroteCreated
	ColumnBesideItems
	Exchanged
	ExchangedOverSets
	SetToErased
	SupersededSet
	SetByTwoQueues
	SetByOtherQueue
	BeforeColumn
	SetAndUnset
	CreateUnset
	OptionalToErased
	OptionalToCancelled
	OptionalMoved
	ManyUnset
	OptionalErasedNow
	Loaded
	CallDropped

	seens
)

var seenNames = [seens]string{
	Depletion:               "depletion",
	HoldBack:                "minfree-hold-back",
	GaveWay:                 "minfree-gave-way",
	SlotLimit:               "slot-limit",
	SlotLimitDepleting:      "slot-limit-depleting",
	ItemLimit:               "item-limit",
	QueueLimit:              "queue-limit",
	BatchLimit:              "batch-limit",
	InboxLimit:              "inbox-limit",
	RemoveLast:              "remove-last",
	RemoveOnly:              "remove-only",
	Annihilated:             "annihilated-create",
	Superseded:              "superseded-put",
	Dropped:                 "dropped-put",
	Redundant:               "redundant-erase",
	StaleReused:             "stale-on-reused-slot",
	StaleDepleted:           "stale-on-depleted-slot",
	ForgedVacant:            "forged-next-generation",
	ForgedFree:              "forged-free-bit",
	StaleProvisional:        "stale-provisional",
	ForeignHandle:           "foreign-handle",
	UnknownSlot:             "unknown-slot",
	ChunkFull:               "chunk-full",
	ChunkOneMore:            "chunk-one-more",
	ManyChunks:              "many-chunks",
	UnevenDeal:              "uneven-deal",
	ResetDropped:            "reset-dropped-slots",
	ResetCleared:            "reset-kept-slots",
	AboveFloor:              "issued-above-floor",
	SelfLink:                "self-link",
	LinkAcross:              "link-across-tables",
	LinkDangling:            "dangling-link",
	PutToCreate:             "put-to-create",
	StagedValue:             "staged-value",
	CancelBefore:            "cancel-before",
	CancelInPlan:            "cancel-in-plan",
	CancelTooLate:           "cancel-too-late",
	LinkPanic:               "panic-in-links",
	TaskError:               "error-in-task",
	TaskPanic:               "panic-in-task",
	TaskGoexit:              "goexit-in-task",
	CallbackPanic:           "panic-in-callback",
	WriteFailed:             "failed-write",
	EmptyFlush:              "empty-flush",
	DiscardedBatch:          "discarded-batch",
	DefragmentPaused:        "defragment-paused",
	DefragmentDone:          "defragment-done",
	CloneDiverged:           "clone-evolved",
	InboxCall:               "inbox-call",
	CheckpointTaken:         "checkpoint",
	RolledBack:              "rollback",
	RolledBackOverDepletion: "rollback-over-depletion",
	RolledBackOverBatch:     "rollback-over-batch",
	ScheduleRun:             "schedule",
	ManyTables:              "many-tables",
	SecondSegment:           "second-segment",
	MisuseRefused:           "misuse-refused",
	Rested:                  "rested",
	SortedBlocks:            "sorted-in-blocks",
	InboxBytes:              "inbox-bytes",
	AboveMax:                "above-max",
	NestedRefused:           "nested-refused",
	FieldsDigested:          "every-field-digested",
	LateCall:                "inbox-across-flush",
	SharedLinks:             "shared-links",
	Refilled:                "refilled",
	WroteCreated:            "wrote-created",
	ColumnBesideItems:       "column-beside-items",
	Exchanged:               "exchanged",
	ExchangedOverSets:       "exchanged-over-sets",
	SetToErased:             "set-to-erased",
	SupersededSet:           "superseded-set",
	SetByTwoQueues:          "set-by-two-queues",
	SetByOtherQueue:         "set-by-other-queue",
	BeforeColumn:            "rollback-before-column",
	SetAndUnset:             "set-and-unset",
	CreateUnset:             "create-unset",
	OptionalToErased:        "optional-to-erased",
	OptionalToCancelled:     "optional-to-cancelled",
	OptionalMoved:           "optional-moved",
	ManyUnset:               "many-unset",
	OptionalErasedNow:       "optional-erased-now",
	Loaded:                  "loaded",
	CallDropped:             "dropped-call",
}

// String returns the name of the state.
func (s Seen) String() string { return seenNames[s] }

// Seens is how many states there are.
const Seens = int(seens)

// Counters count how often each state was seen.
type Counters [seens]int

// See counts one, unless nobody counts.
func (c *Counters) See(s Seen) {
	if c != nil {
		c[s]++
	}
}

// Add adds the counts of o.
func (c *Counters) Add(o *Counters) {
	for i, n := range o {
		c[i] += n
	}
}
