package store

import (
	"fmt"
	"slices"
	"time"

	"handloom/batch"
	"handloom/handle"
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

// String returns one line with every counter that is not 0, such as "epoch 7: 3 created 1
// erased". Without tables and durations it is the same in every run.
func (r *Report) String() string { return fmt.Sprintf("epoch %d: %v", r.Epoch, r.Total) }

// String returns one line with every counter that is not 0, such as "particle: 3 created
// 1 erased".
func (r TableReport) String() string { return r.Name + ": " + r.Counts.String() }

// TableStats are the sizes of one table, over all shards.
type TableStats struct {
	Name     string `json:"name"`
	Shards   int    `json:"shards"`
	Live     int    `json:"live"`     // number of items
	Vacant   int    `json:"vacant"`   // number of slots that wait to be issued again
	Depleted int    `json:"depleted"` // number of slots that used their last generation
	Slots    int    `json:"slots"`    // sum of the three
	Bytes    int64  `json:"bytes"`    // memory of items, columns and sparse data, capacity included; not of indexes, lists and commands
}

// Stats returns the sizes of all tables after the last flush, Write or Shrink, in the order of
// registration. Any goroutine may call it at any time. It takes O(tables) time.
func (s *Store) Stats() []TableStats {
	s.statsLock.Lock()
	defer s.statsLock.Unlock()
	return slices.Clone(s.stats)
}

// Flushed returns the sum of the reports of all flushes with commands, including those
// before a [Store.Rollback], so that no counter ever falls. Epoch is their number; Tables
// and Columns list all tables and columns in the order of registration; there are no
// stale commands. Insert, Remove and Clear are not commands and do not count. The
// difference of two sums is the activity between them.
//
// Any goroutine may call it at any time. It takes O(tables) time.
func (s *Store) Flushed() *Report {
	s.statsLock.Lock()
	defer s.statsLock.Unlock()
	return s.flushed.Clone()
}

// publishFlush updates the sums by the report of a flush and by its tables, which are
// counted and in the order of the report.
func (s *Store) publishFlush(tables []*table, r *Report) {
	s.statsLock.Lock()
	defer s.statsLock.Unlock()
	sum := &s.flushed
	sum.Epoch++
	sum.Total.Add(r.Total)
	for i, t := range tables {
		s.stats[t.ordinal].set(&t.stats.sum)
		sum.Tables[t.ordinal].Add(r.Tables[i].Counts)
	}
	for i := range r.Columns {
		c := &r.Columns[i]
		sum.Columns[s.components[c.Name].line].Add(c.Counts)
	}
	sum.Plan += r.Plan
	sum.Apply += r.Apply
}

// publishAll counts tables that changed as a whole, and publishes their sizes.
func (s *Store) publishAll(changed []*table) {
	for _, t := range changed {
		t.count()
	}
	s.statsLock.Lock()
	defer s.statsLock.Unlock()
	for _, t := range changed {
		s.stats[t.ordinal].set(&t.stats.sum)
	}
}

// set sets the sizes of a table, not its name and shards.
func (t *TableStats) set(from *handle.Stats) {
	t.Live, t.Vacant, t.Depleted, t.Slots, t.Bytes = from.Live, from.Vacant, from.Depleted, from.Slots, from.Bytes
}

// shardStats are the sizes of a table by shard; a flush recounts only shards that it
// changed. Only holders of the exclusive gate use them.
type shardStats struct {
	shards  []handle.Stats
	sum     handle.Stats
	version uint64
}

func (t *table) count() {
	if t.stats.shards == nil {
		t.stats.shards = make([]handle.Stats, len(t.order))
	}
	t.recount(batch.AllShards(len(t.order)))
}

// recount counts some shards again. No other shard has changed since the last count.
func (t *table) recount(shards batch.Shards) {
	f := &t.stats
	sum := &f.sum
	for ; shards != 0; shards = shards.Rest() {
		counted := &f.shards[shards.First()]
		sh := t.order[shards.First()]
		now := sh.Map.Stats()
		if len(t.sparse) > 0 {
			now = sh.State().Stats()
		}
		sum.Live += now.Live - counted.Live
		sum.Vacant += now.Vacant - counted.Vacant
		sum.Depleted += now.Depleted - counted.Depleted
		sum.Slots += now.Slots - counted.Slots
		sum.Bytes += now.Bytes - counted.Bytes
		*counted = now
	}
	f.version = t.version
}
