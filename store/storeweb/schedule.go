package storeweb

import (
	"strings"
	"time"

	"handloom/store"
)

// schedule is a schedule in words and figures.
type schedule struct {
	Explain string   `json:"explain"`
	Systems []timing `json:"systems"` // in the order they were given
}

// timing is how long a system took in the last frames.
type timing struct {
	System string        `json:"system"`
	Runs   int           `json:"runs"` // of the last 128
	Last   time.Duration `json:"last_ns"`
	P50    time.Duration `json:"p50_ns"`
	P99    time.Duration `json:"p99_ns"`
	Max    time.Duration `json:"max_ns"`
}

func newSchedule(s *store.Schedule) schedule {
	all := schedule{Explain: s.Explain()}
	for _, t := range s.Timings() {
		all.Systems = append(all.Systems, timing{t.System, t.Runs, t.Last, t.P50, t.P99, t.Max})
	}
	return all
}

// stage is a wave or a flush of a frame.
type stage struct {
	Name    string
	Flush   bool
	Why     []string // of a flush
	Systems []step
}

// step is a system in its wave.
type step struct {
	Name string
	Why  []string // what kept it out of the wave before
	timing
	Part int // of the longest median of the schedule, in twentieths
}

// Stages returns the waves and flushes in their order. They are read from what
// Explain says, whose lines are indented: a stage not at all, its systems by two
// spaces, reasons by four.
func (s schedule) Stages() []stage {
	var stages []stage
	for line := range strings.Lines(s.Explain) {
		line = strings.TrimSuffix(line, "\n")
		text := strings.TrimLeft(line, " ")
		if len(text) == len(line) || len(stages) == 0 {
			stages = append(stages, stage{Name: text, Flush: text == "flush"})
			continue
		}
		of := &stages[len(stages)-1]
		switch indent := len(line) - len(text); {
		case indent == 2:
			of.Systems = append(of.Systems, s.step(text))
		case len(of.Systems) == 0:
			of.Why = append(of.Why, text)
		default:
			last := &of.Systems[len(of.Systems)-1]
			last.Why = append(last.Why, text)
		}
	}
	return stages
}

// step returns the system that a line names.
func (s schedule) step(line string) step {
	y := step{Name: line}
	longest := time.Duration(1)
	for _, t := range s.Systems {
		longest = max(longest, t.P50)
		if t.System == line || strings.HasPrefix(line, t.System+" (if") {
			y.timing = t
		}
	}
	y.Part = int(20 * y.P50 / longest)
	return y
}
