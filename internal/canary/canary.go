// Package canary holds seeded faults, so that the stress harness can prove that
// it finds them. They are compiled in under the build tag handloom_canary alone:
//
//	if canary.Enabled && canary.On(canary.ClearBumpsVacant) { ... }
//
// In every other build Enabled is the constant false and nothing of such a line
// is left, not even a cost that keeps a function from inlining.
package canary

// Fault is one seeded fault.
type Fault int

// The faults. None is no fault.
const (
	None Fault = iota
	ResolveIgnoresFreeBit
	NoGenerationBump
	SwapForgetsSlot
	SwapWhenLast
	LastInFirstOut
	TailNotReset
	WrapAtLast
	ClearListsDepleted
	TypeIDUnchecked
	DuplicateEraseCounts
	MergeByArrival
	ChunksByWorkers
	LastCommandDropped
	AppliedTwice
	TailNotZeroed
	ShardTwice
	ErrorSwallowed
	ClearBumpsVacant
	PhaseUnchecked
	GoroutineLeft
	LimitOffByOne
	CloneForgetsFreelist
	LinkLeft
	PutAfterErase

	faults
)

var names = [faults]string{
	None:                  "none",
	ResolveIgnoresFreeBit: "resolve-ignores-free-bit",
	NoGenerationBump:      "no-generation-bump",
	SwapForgetsSlot:       "swap-forgets-slot",
	SwapWhenLast:          "swap-when-last",
	LastInFirstOut:        "lifo",
	TailNotReset:          "tail-not-reset",
	WrapAtLast:            "wrap-at-last",
	ClearListsDepleted:    "clear-lists-depleted",
	TypeIDUnchecked:       "typeid-unchecked",
	DuplicateEraseCounts:  "duplicate-erase-counts",
	MergeByArrival:        "merge-by-arrival",
	ChunksByWorkers:       "chunks-by-workers",
	LastCommandDropped:    "last-command-dropped",
	AppliedTwice:          "applied-twice",
	TailNotZeroed:         "tail-not-zeroed",
	ShardTwice:            "shard-twice",
	ErrorSwallowed:        "error-swallowed",
	ClearBumpsVacant:      "clear-bumps-vacant",
	PhaseUnchecked:        "phase-unchecked",
	GoroutineLeft:         "goroutine-left",
	LimitOffByOne:         "limit-off-by-one",
	CloneForgetsFreelist:  "clone-forgets-freelist",
	LinkLeft:              "link-left",
	PutAfterErase:         "put-after-erase",
}

// String returns the name of the fault.
func (f Fault) String() string { return names[f] }

// All returns every fault.
func All() []Fault {
	var all []Fault
	for f := None + 1; f < faults; f++ {
		all = append(all, f)
	}
	return all
}
