package store

import (
	"fmt"
	"slices"
	"time"

	"handloom/batch"
)

// Report has the outcome of a flush. The Report of Flush is valid until the next flush;
// [Report.Clone] keeps it. Its JSON decodes to an equal Report, durations included.
//
// See guide/flush.md.
type Report struct {
	Epoch   uint64         `json:"epoch"`                   // number of flushes with commands, this one included
	Total   batch.Counts   `json:"total"`                   // all tables, and commands that name no table
	Tables  []TableReport  `json:"tables,omitempty"`        // tables with commands, by typeId
	Columns []TableReport  `json:"columns,omitempty"`       // columns with Sets, by typeId and then order of addition
	Stale   []batch.Sample `json:"stale_samples,omitempty"` // the first 8 stale commands by typeId, kind, column, key and sequence

	// DroppedCalls is the number of inbox calls that were dropped; see [Store.Inbox].
	DroppedCalls int `json:"dropped_calls,omitempty"`

	Plan  time.Duration `json:"plan_ns"`  // until the commit
	Apply time.Duration `json:"apply_ns"` // after the commit
}

// TableReport has the outcome of a flush for one table, or for one column, which is named
// table.column, such as "boids.pos".
type TableReport struct {
	Name string `json:"name"`
	batch.Counts
}

func (r *Report) begin(epoch uint64) {
	*r = Report{Epoch: epoch, Tables: r.Tables[:0], Columns: r.Columns[:0], Stale: r.Stale[:0]}
}

func (r *Report) addTable(name string) *batch.Counts {
	n := len(r.Tables)
	r.Tables = slices.Grow(r.Tables, 1)[:n+1]
	r.Tables[n] = TableReport{Name: name}
	return &r.Tables[n].Counts
}

// Clone returns a copy that later flushes do not change.
func (r *Report) Clone() *Report {
	c := *r
	c.Tables = slices.Clone(r.Tables)
	c.Columns = slices.Clone(r.Columns)
	c.Stale = slices.Clone(r.Stale)
	return &c
}

// Equal reports whether the reports are equal, except for durations and the bits of
// provisional handles, which differ between runs.
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

// String returns one line with every counter that is not 0, such as "epoch 7: 3 created 1
// erased". Without tables and durations it is the same in every run.
func (r *Report) String() string { return fmt.Sprintf("epoch %d: %v", r.Epoch, r.Total) }

// String returns one line with every counter that is not 0, such as "particle: 3 created
// 1 erased".
func (r TableReport) String() string { return r.Name + ": " + r.Counts.String() }
