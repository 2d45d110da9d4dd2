package cluster

import (
	"fmt"
	"time"

	"handloom/cluster/cells"
	"handloom/journal"
)

// A CellID names a cell, its stream and the stream's subject.
type CellID = cells.ID

// Options of a Log. The zero value is valid.
type Options struct {
	// ElectionTimeout is the time without records until another node may lead; default
	// and minimum 300 ms. Use more than three ticks.
	ElectionTimeout time.Duration

	// Replicas is the number of servers that keep the stream: 1, 3 or 5; default 3, or 1 with
	// an embedded server.
	Replicas int

	// Journal is this node's copy of the records, or nil. Open it with Sync:
	// journal.Every(time.Second). Records are written to it after their acknowledgement. Open
	// compares it with the stream. It is trimmed within seconds of the stream while the Log
	// reads.
	Journal *journal.Journal

	// Snapshots is the shared storage of snapshots; default an object store of JetStream with
	// Replicas, for states up to about 100 MB.
	Snapshots Blobs
}

const (
	minElectionTimeout = 300 * time.Millisecond
	maxReplicas        = 5
)

// withDefaults returns o with defaults.
func (o Options) withDefaults(replicas int) (Options, error) {
	if o.ElectionTimeout == 0 {
		o.ElectionTimeout = minElectionTimeout
	}
	if o.ElectionTimeout < minElectionTimeout {
		return o, fmt.Errorf("cluster: Options.ElectionTimeout: got %v, want at least %v, or 0", o.ElectionTimeout, minElectionTimeout)
	}
	if o.Replicas == 0 {
		o.Replicas = replicas
	}
	if o.Replicas < 1 || o.Replicas > maxReplicas || o.Replicas%2 == 0 {
		return o, fmt.Errorf("cluster: Options.Replicas: got %d, want 1, 3 or 5, or 0 for %d", o.Replicas, replicas)
	}
	return o, nil
}
