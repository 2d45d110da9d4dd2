package model

// Seen is a rare state or event.
type Seen int

// seenNames has the names by number; state appends to it before main begins.
var seenNames []string

// state adds a name.
func state(name string) Seen {
	seenNames = append(seenNames, name)
	return Seen(len(seenNames) - 1)
}

// The counted states and events. Operations and results of every run are not
// counted, nor the states of shapes; seeded faults prove that they occur.
var (
	Depletion               = state("depletion")
	HoldBack                = state("minfree-hold-back")
	GaveWay                 = state("minfree-gave-way")
	SlotLimit               = state("slot-limit")
	SlotLimitDepleting      = state("slot-limit-depleting")
	ItemLimit               = state("item-limit")
	BatchLimit              = state("batch-limit")
	InboxLimit              = state("inbox-limit")
	StaleReused             = state("stale-on-reused-slot")
	StaleDepleted           = state("stale-on-depleted-slot")
	ForgedVacant            = state("forged-next-generation")
	ForgedFree              = state("forged-free-bit")
	StaleProvisional        = state("stale-provisional")
	ForeignHandle           = state("foreign-handle")
	UnknownSlot             = state("unknown-slot")
	ChunkFull               = state("chunk-full")
	ChunkOneMore            = state("chunk-one-more")
	ManyChunks              = state("many-chunks")
	UnevenDeal              = state("uneven-deal")
	CancelInPlan            = state("cancel-in-plan")
	CancelTooLate           = state("cancel-too-late")
	DefragmentPaused        = state("defragment-paused")
	RolledBackOverDepletion = state("rollback-over-depletion")
	RolledBackOverBatch     = state("rollback-over-batch")
	MisuseRefused           = state("misuse-refused")
	LateCall                = state("inbox-across-flush")
	SharedLinks             = state("shared-links")
	CallDropped             = state("dropped-call")
)

func (s Seen) String() string { return seenNames[s] }

// AllSeen returns all states, also states that no program reached.
func AllSeen() []Seen {
	all := make([]Seen, len(seenNames))
	for i := range all {
		all[i] = Seen(i)
	}
	return all
}

// Counters count rare states.
type Counters map[Seen]int

// See counts one occurrence; a nil c counts nothing.
func (c *Counters) See(s Seen) { c.add(s, 1) }

func (c *Counters) add(s Seen, n int) {
	if c == nil {
		return
	}
	// The zero Counters are ready for use.
	if *c == nil {
		*c = make(Counters)
	}
	(*c)[s] += n
}

// Add adds the counters of another run.
func (c *Counters) Add(o Counters) {
	for s, n := range o {
		c.add(s, n)
	}
}
