package script

// Script is a program: the store, its tables, and the steps to run.
type Script struct {
	Seed     uint64
	Revision string
	Narrow   Narrow
	Store    Store
	Tables   []Table
	Configs  []Config
	Steps    []Step
}

// Narrow has the widths of handle fields; 0 is the full width.
type Narrow struct {
	Generations int // last generation
	Slots       int
}

// Store has the options of the store.
type Store struct {
	BatchLimit int
	InboxLimit int
	Seed       int // seed of the random numbers of tasks; 0: none
	BatchBytes int // above every batch of a program: models count no bytes
}

const (
	Packed = "packed"
	Stable = "stable"

	Word = "word" // 8 bytes: the key
	Rich = "rich" // key, serial, padding, a map, and links in a field, an array and a slice
)

// Items are the kinds of items, and of elements of columns and sparse data.
// They are few because each pair of kinds adds build time.
var Items = []string{Word, Rich}

// Table has the options of a table. 0 is the default of the store, except Shards.
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
	Changes int
	Events  int // 1: items end in a flush outside a Frame
}

// Config is a configuration of a run. It must not change the result.
type Config struct {
	Workers int
	Procs   int // GOMAXPROCS; 0: unchanged
	Team    int // 1: a team of warm workers
	Shuffle int // not 0: seed of the order of tasks, of yields and delays
	Yield   int // tasks per 1,000 that yield before they run
	Delay   int // tasks per 1,000 that sleep up to 100 us
}

// Step is one line of a program, with the lines of its body.
type Step struct {
	Op    Op
	Task  int // in the body of a pass: its task
	Table int // index in Tables
	Name  int // name of the first created item; 0: none
	N     int
	Word  string
	Args  []int // by the keys of the operation; nil: all 0
	Refs  []Ref
	Body  []Step
	Line  int
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
	// The operation and the key are both in code, so this is a bug of the caller.
	panic("program: " + s.Op.String() + " has no " + key)
}

// Set sets an argument and returns the step, for use in expressions.
func (s Step) Set(key string, value int) Step {
	keys := specs[s.Op].keys
	// The copy keeps other steps that share the array unchanged.
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

// Walk calls f for every step; bodies follow their steps.
func Walk(steps []Step, f func(s *Step)) {
	for i := range steps {
		f(&steps[i])
		Walk(steps[i].Body, f)
	}
}

// Len returns the number of steps, with bodies.
func (p *Script) Len() int {
	n := 0
	Walk(p.Steps, func(*Step) { n++ })
	return n
}
