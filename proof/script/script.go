package script

// Script is a store's tables, and what is done to them.
type Script struct {
	Seed     uint64
	Revision string // of the code that drew it; one word
	Narrow   Narrow
	Store    Store
	Tables   []Table
	Configs  []Config // to run it under
	Steps    []Step
}

// Narrow are the widths of handle fields; 0 is the full width.
type Narrow struct {
	Generations int // the last generation
	Slots       int
}

// Store are the options of the store.
type Store struct {
	BatchLimit int
	InboxLimit int
	Seed       int // of the random numbers that tasks draw; 0: none
	BatchBytes int // more than any batch of the program has: models count no bytes
}

// Kinds of tables and of their items, as they are written.
const (
	Packed = "packed"
	Stable = "stable"

	Empty  = "empty"  // struct{}
	Word   = "word"   // 8 bytes: the key
	Linked = "linked" // key, serial and three links in fields, an array and a structure
	Rich   = "rich"   // a string, a slice, and links behind a slice
)

// Items are the kinds of items.
var Items = []string{Empty, Word, Linked, Rich}

// Elements returns the kinds of elements that columns and optional data of tables with such
// items may have: few, because each costs a build beside each kind of items.
func Elements(item string) []string {
	if item == Word {
		return []string{Word, Linked, Rich, Empty}
	}
	return []string{Word, Linked}
}

// Table is a table and the options it is registered with.
type Table struct {
	Name    string
	Kind    string // packed or stable
	Item    string
	Shards  int // 0: 1
	Reserve int
	Max     int // MaxItems
	MinFree int
	Chunk   int // ChunkItems
	Fixed   int // 1: FixedKeys
	Changes int // 1: changes are kept
	Events  int // 1: items end in a flush alone
}

// Config is how a program is run. None of it may change what the program does.
type Config struct {
	Workers int
	Procs   int // GOMAXPROCS; 0: as it is
	Team    int // 1: a team of warm workers
	Shuffle int // not 0: seeds the order in which tasks are claimed, and the rest
	Yield   int // of 1,000 tasks, how many yield before they run
	Delay   int // likewise: sleep up to 100 us
}

// Step is one operation.
type Step struct {
	Op    Op
	Task  int    // in the body of a pass: the task that does it
	Table int    // index in Tables
	Shard int    // of the table, for operations on one of its maps
	Name  int    // of the first item it makes; 0: none
	N     int    // items it makes
	Word  string // kind of misuse, or of elements
	Args  []int  // by the keys of its operation; nil: all 0
	Refs  []Ref
	Body  []Step
	Line  int // where it was read; 0: nowhere
}

// Arg returns the argument with a key, which the operation must have.
func (s *Step) Arg(key string) int {
	for i, k := range specs[s.Op].keys {
		if k == key {
			if s.Args == nil {
				return 0
			}
			return s.Args[i]
		}
	}
	panic("program: " + s.Op.String() + " has no " + key)
}

// Set sets an argument and returns the step, so that steps can be made in one
// expression.
func (s Step) Set(key string, value int) Step {
	keys := specs[s.Op].keys
	args := make([]int, len(keys))
	copy(args, s.Args)
	found := false
	for i, k := range keys {
		if k == key {
			args[i], found = value, true
		}
	}
	if !found {
		panic("program: " + s.Op.String() + " has no " + key)
	}
	s.Args = args
	return s
}

// Walk calls f for every step, bodies after what they belong to.
func Walk(steps []Step, f func(s *Step)) {
	for i := range steps {
		f(&steps[i])
		Walk(steps[i].Body, f)
	}
}

// Len returns how many operations the program has.
func (p *Script) Len() int {
	n := 0
	Walk(p.Steps, func(*Step) { n++ })
	return n
}
