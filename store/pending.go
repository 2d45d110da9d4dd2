package store

import "handloom/batch"

// Pending is the size of the commands recorded since the last flush.
type Pending struct {
	Commands int   `json:"commands"`
	Bytes    int64 `json:"bytes"` // of their values and handles
}

// Pending returns the size of the commands that wait for a flush, calls of the inbox
// included. The goroutine that flushes may call it, outside passes. It takes O(1) time
// per queue and per table that a queue recorded for.
func (s *Store) Pending() Pending {
	load := s.batch.Pending()
	return Pending{Commands: load.Commands, Bytes: load.Bytes}
}

// begin starts a pass of n queues, unless the batch is at its limit.
func (s *Store) begin(ph *phase, n int) (p *batch.Pass, err error) {
	if err := s.admit(); err != nil {
		return nil, err
	}
	y := ph.systemOf()
	if y != nil {
		p = y.queues.Begin(n)
	} else {
		p = s.batch.Begin(n)
	}
	p.Context = ph
	if s.random != nil {
		s.random.pass(y, p)
	}
	return p, nil
}

func (s *Store) admit() error {
	if s.options.BatchLimit > 0 || s.options.BatchBytes > 0 {
		return s.batch.Admit()
	}
	return nil
}
