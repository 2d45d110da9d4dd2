package store

import (
	"fmt"
	"slices"
	"time"

	"handloom/batch"
)

// Report says what a flush did. The one that Flush returns is good until the
// next flush; [Report.Clone] keeps it. As JSON it reads back equal, durations
// included.
//
// The guide's page is guide/flush.md.
type Report struct {
	Epoch   uint64         `json:"epoch"`                   // flushes with commands so far, this one included
	Total   batch.Counts   `json:"total"`                   // over all tables, and commands that name no table
	Tables  []TableReport  `json:"tables,omitempty"`        // of the tables that had commands, by typeId
	Columns []TableReport  `json:"columns,omitempty"`       // of the columns that had Sets, by typeId and then as added
	Stale   []batch.Sample `json:"stale_samples,omitempty"` // the first 8 stale commands by typeId, kind, column, key and sequence

	// DroppedCalls is the number of calls of the inbox that did not fit, or whose key was
	// taken; see [Store.Inbox].
	DroppedCalls int `json:"dropped_calls,omitempty"`

	Plan  time.Duration `json:"plan_ns"`  // until the commit point
	Apply time.Duration `json:"apply_ns"` // after it
}

// TableReport says what a flush did to one table, or by Sets to one column, whose name is
// that of the table and its own, as in "boids.pos".
type TableReport struct {
	Name string `json:"name"`
	batch.Counts
}

// begin empties the report and keeps its memory.
func (r *Report) begin(epoch uint64) {
	*r = Report{Epoch: epoch, Tables: r.Tables[:0], Columns: r.Columns[:0], Stale: r.Stale[:0]}
}

// addTable adds a line for a table, and returns its counters.
func (r *Report) addTable(name string) *batch.Counts {
	n := len(r.Tables)
	r.Tables = slices.Grow(r.Tables, 1)[:n+1]
	r.Tables[n] = TableReport{Name: name}
	return &r.Tables[n].Counts
}

// Clone returns a copy that later flushes leave alone.
func (r *Report) Clone() *Report {
	c := *r
	c.Tables = slices.Clone(r.Tables)
	c.Columns = slices.Clone(r.Columns)
	c.Stale = slices.Clone(r.Stale)
	return &c
}

// Equal reports whether both reports say the same, durations aside, and the
// bits of provisional handles, which are names that differ from run to run.
func (r *Report) Equal(o *Report) bool {
	return r.Epoch == o.Epoch && r.Total == o.Total && r.DroppedCalls == o.DroppedCalls &&
		slices.Equal(r.Tables, o.Tables) && slices.Equal(r.Columns, o.Columns) && slices.EqualFunc(r.Stale, o.Stale, sameSample)
}

func sameSample(a, b batch.Sample) bool {
	if a.Handle.IsProvisional() && b.Handle.IsProvisional() {
		a.Handle, b.Handle = 0, 0
	}
	return a == b
}

// String returns one line with every counter that is not 0, such as
// "epoch 7: 3 created 1 erased". Tables and durations are not in it, so that it
// is the same in every run.
func (r *Report) String() string { return fmt.Sprintf("epoch %d: %v", r.Epoch, r.Total) }

// String returns one line with every counter that is not 0, such as
// "particle: 3 created 1 erased".
func (r TableReport) String() string { return r.Name + ": " + r.Counts.String() }
