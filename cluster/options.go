package cluster

import (
	"fmt"
	"time"

	"handloom/cluster/cells"
	"handloom/journal"
)

// A CellID names a cell: its stream, and the subject of that.
type CellID = cells.ID

// Options of a Log. The zero value serves.
type Options struct {
	// ElectionTimeout is how long there must have been no record before another world may own
	// the log. 0: 300 ms, which is the least. Make it longer than three ticks.
	ElectionTimeout time.Duration

	// Replicas is how many servers keep the stream: odd, and at most 5. 0: 3 of a
	// cluster, 1 of an embedded server.
	Replicas int

	// Journal is this node's own copy of what it reads and appends; nil: none. Open it
	// with Sync: journal.Every(time.Second). It is written behind the acknowledgement
	// and tells, at the next Open, whether the stream has become another one.
	Journal *journal.Journal

	// Snapshots is where all nodes save and find snapshots. nil: an object store of
	// JetStream, with Replicas, which is for states of up to some 100 MB.
	Snapshots Blobs
}

const (
	minElectionTimeout = 300 * time.Millisecond
	maxReplicas        = 5
)

// withDefaults returns o with its defaults filled in.
func (o Options) withDefaults(replicas int) (Options, error) {
	if o.ElectionTimeout == 0 {
		o.ElectionTimeout = minElectionTimeout
	}
	if o.ElectionTimeout < minElectionTimeout {
		return o, fmt.Errorf("cluster: Options.ElectionTimeout is %v: at least %v, or 0 for that", o.ElectionTimeout, minElectionTimeout)
	}
	if o.Replicas == 0 {
		o.Replicas = replicas
	}
	if o.Replicas < 1 || o.Replicas > maxReplicas || o.Replicas%2 == 0 {
		return o, fmt.Errorf("cluster: Options.Replicas is %d: 1, 3 or 5, or 0 for %d", o.Replicas, replicas)
	}
	return o, nil
}
