package store

import (
	"fmt"
	"slices"
	"strings"

	"handloom/batch"
	"handloom/internal/report"
	"handloom/shard/handle"
)

// Stats are the figures of a store after its last flush. As JSON they read back
// equal.
type Stats struct {
	Epoch  uint64       `json:"epoch"`
	Tables []TableStats `json:"tables,omitempty"` // in the order of registration
}

// TableStats are the figures of one table, over all its shards.
type TableStats struct {
	Name     string `json:"name"`
	Shards   int    `json:"shards"`
	Live     int    `json:"live"`     // items
	Vacant   int    `json:"vacant"`   // slots waiting to be issued again
	Depleted int    `json:"depleted"` // slots that used their last generation
	Slots    int    `json:"slots"`    // the three together
	Bytes    int64  `json:"bytes"`    // memory of the containers, capacity included
}

// Stats returns the figures as of the last flush or Write. It may be called from
// any goroutine at any time, and takes O(tables) time.
func (s *Store) Stats() Stats {
	s.statsLock.Lock()
	defer s.statsLock.Unlock()
	return Stats{Epoch: s.stats.Epoch, Tables: slices.Clone(s.stats.Tables)}
}

// Flushed returns the sum of the reports of all flushes with commands so far, of those
// that a [Store.Rollback] took back as well, so that no figure ever falls: Epoch is their
// number, Tables has each table of the store and Columns each column, in the order of
// registration, and there are no stale commands. What a Write inserts, removes and clears is no command and not
// in it. Two of them say what happened in between.
//
// It may be called from any goroutine at any time, and takes O(tables) time.
func (s *Store) Flushed() *Report {
	s.statsLock.Lock()
	defer s.statsLock.Unlock()
	return s.flushed.Clone()
}

// publishFlush tells what a flush did: the figures of the tables that it changed, which
// have been counted, and the sum with its report, which has their lines in their order.
func (s *Store) publishFlush(of []*table, r *Report) {
	s.statsLock.Lock()
	defer s.statsLock.Unlock()
	s.stats.Epoch = r.Epoch
	sum := &s.flushed
	sum.Epoch++
	sum.Total.Add(r.Total)
	for i, t := range of {
		s.stats.Tables[t.ordinal].set(&t.figures.sum)
		sum.Tables[t.ordinal].Add(r.Tables[i].Counts)
	}
	for i := range r.Columns {
		c := &r.Columns[i]
		sum.Columns[s.parts[c.Name].line].Add(c.Counts)
	}
	sum.Plan += r.Plan
	sum.Apply += r.Apply
}

// publishAll counts tables that changed as a whole, and tells their figures.
func (s *Store) publishAll(changed []*table) {
	for _, t := range changed {
		t.count()
	}
	s.statsLock.Lock()
	defer s.statsLock.Unlock()
	s.stats.Epoch = s.epoch.Load()
	for _, t := range changed {
		s.stats.Tables[t.ordinal].set(&t.figures.sum)
	}
}

// set makes the figures those of a table; its name and shards stay.
func (t *TableStats) set(of *handle.Stats) {
	t.Live, t.Vacant, t.Depleted, t.Slots, t.Bytes = of.Live, of.Vacant, of.Depleted, of.Slots, of.Bytes
}

// figures are those of a table, kept by shard: a flush counts those again that it has
// changed. What holds the store alone counts and reads them.
type figures struct {
	shards  []handle.Stats
	sum     handle.Stats
	version uint64 // of the table, when they were counted
}

// count counts the whole table.
func (t *table) count() {
	if t.figures.shards == nil {
		t.figures.shards = make([]handle.Stats, len(t.order))
	}
	t.recount(batch.AllShards(len(t.order)))
}

// recount counts some shards again. Nothing else has changed since the last time.
func (t *table) recount(shards batch.Shards) {
	f := &t.figures
	sum := &f.sum
	for ; shards != 0; shards = shards.Rest() {
		of := &f.shards[shards.First()]
		now := t.order[shards.First()].State().Stats()
		sum.Live += now.Live - of.Live
		sum.Vacant += now.Vacant - of.Vacant
		sum.Depleted += now.Depleted - of.Depleted
		sum.Slots += now.Slots - of.Slots
		sum.Bytes += now.Bytes - of.Bytes
		*of = now
	}
	f.version = t.version
}

// String returns a line with the epoch and a small table of the tables, in which
// columns line up.
//
//	epoch 7
//	   table  shards   live  vacant  depleted  slots    memory
//	particle       4  1,200      80         0  1,280  59.0 KiB
func (s Stats) String() string {
	out := report.NewTable("table", "shards", "live", "vacant", "depleted", "slots", "memory")
	for _, t := range s.Tables {
		out.Row(t.Name, report.Count(t.Shards), report.Count(t.Live), report.Count(t.Vacant), report.Count(t.Depleted),
			report.Count(t.Slots), report.Bytes(t.Bytes))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "epoch %d\n", s.Epoch)
	_, _ = out.WriteTo(&b) // a Builder takes everything
	return strings.TrimSuffix(b.String(), "\n")
}
