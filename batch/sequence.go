package batch

import "slices"

// Sequence is a run of passes for a system that records while other systems do.
// [Batch.Join] places its passes in the batch later, in an order that does not depend on
// timing. It keeps the memory of its queues between batches.
type Sequence struct {
	batch  *Batch
	serial uint64  // batch that the pool serves
	passes []*Pass // passes since the last Join or Drop
	pool   passPool
}

// NewSequence returns an empty sequence.
func (b *Batch) NewSequence() *Sequence { return &Sequence{batch: b} }

// Begin starts the next pass of the sequence with n queues. Goroutines may call it at the
// same time for different sequences.
func (s *Sequence) Begin(n int) *Pass {
	s.renew()
	p := s.pool.take(s.batch, n, len(s.passes))
	s.passes = append(s.passes, p)
	return p
}

// renew rewinds the pool once per batch. A sequence that begins no pass also releases
// memory this way.
func (s *Sequence) renew() {
	if s.serial != s.batch.serial {
		s.serial = s.batch.serial
		s.pool.rewind()
	}
}

// Join appends the passes of a sequence to the batch; they must have ended. It is called
// for the sequences of a wave one by one, in the order of the systems.
func (b *Batch) Join(s *Sequence) {
	s.renew()
	for i, p := range s.passes {
		for task := range p.buffers[:p.tasks] {
			p.buffers[task].pass = len(b.order)
		}
		p.joined = true
		b.count(p)
		b.order = append(b.order, p)
		s.passes[i] = nil
	}
	s.passes = s.passes[:0]
}

// Empty reports whether the sequence holds no commands after the last Join.
func (s *Sequence) Empty() bool {
	return !slices.ContainsFunc(s.passes, func(p *Pass) bool { return !p.empty() })
}

// Drop drops all commands since the last Join.
func (s *Sequence) Drop() {
	for i, p := range s.passes {
		p.finish()
		s.passes[i] = nil
	}
	s.pool.used -= len(s.passes) // they were taken last, and a flush may never follow
	s.passes = s.passes[:0]
}
