package feed

import "time"

// Version is the version of every event. It changes when a field changes its
// meaning or goes; new fields and kinds may come.
const Version = 1

// Kind tells which of an event's parts is there.
type Kind string

// The kinds of events.
const (
	KindStart    Kind = "start"
	KindProgress Kind = "progress"
	KindSample   Kind = "sample"
	KindFailure  Kind = "failure"
	KindVerdict  Kind = "verdict"
)

// Event is one thing said. Of the parts, the one that Kind names is there.
type Event struct {
	Version int           `json:"version"`
	Kind    Kind          `json:"kind"`
	Elapsed time.Duration `json:"elapsed_ns"` // since the feed began

	Start    *Start    `json:"start,omitempty"`
	Progress *Progress `json:"progress,omitempty"`
	Sample   *Sample   `json:"sample,omitempty"`
	Failure  *Failure  `json:"failure,omitempty"`
	Verdict  *Verdict  `json:"verdict,omitempty"`
}

// Start says what runs and where. It names no machine.
type Start struct {
	Title   string `json:"title"`             // what a report is headed by
	Command string `json:"command"`           // the command line that repeats the run
	Unit    string `json:"unit"`              // what Sample.Operations counts, a plural: commands, operations
	Details []Fact `json:"details,omitempty"` // seed, workers, sizes

	// Limits that fail the run; 0: none.
	MaxP99  time.Duration `json:"max_p99_ns,omitempty"` // of the tick time
	MaxHeap int64         `json:"max_heap_bytes,omitempty"`

	Go         string `json:"go"`
	Platform   string `json:"platform"`
	GOMAXPROCS int    `json:"gomaxprocs"`
}

// Fact is a named figure, written for people.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Progress is one line for people.
type Progress struct {
	Text string `json:"text"`
}

// Sample holds the figures of one interval. Those that a run does not have are
// left 0.
type Sample struct {
	Interval   time.Duration `json:"interval_ns"` // how long it was
	Ticks      int           `json:"ticks"`       // so far
	Late       int           `json:"late_ticks"`  // so far, ticks that ended after the next should have begun
	Operations int           `json:"operations"`  // in the interval
	Flush      Quantiles     `json:"flush"`       // in the interval
	Tick       Quantiles     `json:"tick"`        // in the interval, from the intended start of each tick
	Live       int           `json:"items_live"`
	Heap       int64         `json:"heap_bytes"`
	Goroutines int           `json:"goroutines"`
	Shards     []Shard       `json:"shards,omitempty"`
	Verdict    string        `json:"verdict"` // so far
}

// Rate returns the operations per second.
func (s *Sample) Rate() float64 {
	if s.Interval <= 0 {
		return 0
	}
	return float64(s.Operations) / s.Interval.Seconds()
}

// Quantiles are those of a duration.
type Quantiles struct {
	P50  time.Duration `json:"p50_ns"`
	P99  time.Duration `json:"p99_ns"`
	P999 time.Duration `json:"p999_ns"`
	Max  time.Duration `json:"max_ns"`
}

// Shard is the load of one shard.
type Shard struct {
	Table string `json:"table"`
	Index int    `json:"shard"` // within the table
	Live  int    `json:"items_live"`
}

// Failure is something that is not as it should be.
type Failure struct {
	What   string `json:"what"`             // one line
	Replay string `json:"replay,omitempty"` // the command line that shows it again
	Detail string `json:"detail,omitempty"` // any number of lines
}

// Late is the verdict, also of a sample, on a run in which nothing failed and that
// did not keep its pace.
const Late = "late"

// Verdict is the last thing said.
type Verdict struct {
	Verdict  string `json:"verdict"` // one word
	ExitCode int    `json:"exit_code"`
	Reason   string `json:"reason"` // one line
	Totals   []Fact `json:"totals,omitempty"`
}
