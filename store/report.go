package store

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Report says what a flush did. The one that Flush returns is good until the
// next flush; [Report.Clone] keeps it.
type Report struct {
	Epoch  uint64        // flushes with commands so far, this one included
	Total  Counts        // over all tables, and commands that name no table
	Tables []TableReport // of the tables that had commands, by typeId
	Stale  []Sample      // the first 8 stale commands by typeId, kind, key and sequence
	Plan   time.Duration // until the commit point
	Apply  time.Duration // after it
}

// TableReport says what a flush did to one table.
type TableReport struct {
	Name string
	Counts
}

// begin empties the report and keeps its memory.
func (r *Report) begin(epoch uint64) {
	*r = Report{Epoch: epoch, Tables: r.Tables[:0], Stale: r.Stale[:0]}
}

// Clone returns a copy that later flushes leave alone.
func (r *Report) Clone() *Report {
	c := *r
	c.Tables = slices.Clone(r.Tables)
	c.Stale = slices.Clone(r.Stale)
	return &c
}

// Equal reports whether both reports say the same, durations aside, and the
// bits of provisional handles, which are names that differ from run to run.
func (r *Report) Equal(o *Report) bool {
	return r.Epoch == o.Epoch && r.Total == o.Total &&
		slices.Equal(r.Tables, o.Tables) && slices.EqualFunc(r.Stale, o.Stale, sameSample)
}

func sameSample(a, b Sample) bool {
	if a.Handle.IsProvisional() && b.Handle.IsProvisional() {
		a.Handle, b.Handle = 0, 0
	}
	return a == b
}

// String returns one line with every counter that is not 0.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "epoch %d:", r.Epoch)
	c := r.Total
	for _, counter := range []struct {
		name  string
		value int
	}{
		{"created", c.Created},
		{"erased", c.Erased},
		{"put", c.Put},
		{"superseded", c.Superseded},
		{"dropped", c.Dropped},
		{"redundant", c.Redundant},
		{"stale", c.Stale},
		{"cancelled out", c.CancelledOut},
		{"dangling", c.Dangling},
		{"depleted", c.Depleted},
	} {
		if counter.value != 0 {
			fmt.Fprintf(&b, " %d %s", counter.value, counter.name)
		}
	}
	if c == (Counts{}) {
		b.WriteString(" nothing")
	}
	return b.String()
}
