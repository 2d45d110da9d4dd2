package batch

import "slices"

// Sequence is a run of passes with numbers of its own, for systems that record
// at the same time: the passes of each get their place in the batch afterwards,
// by [Batch.Join], in an order that does not depend on who was first. It keeps
// the memory of its queues from batch to batch.
type Sequence struct {
	batch  *Batch
	serial uint64  // of the batch that the pool serves
	passes []*Pass // since the last Join or Drop
	pool   passPool
}

// NewSequence returns an empty sequence.
func (b *Batch) NewSequence() *Sequence { return &Sequence{batch: b} }

// Begin starts the next pass of the sequence with n queues, as [Batch.Begin]
// does. Goroutines may do so at the same time for sequences of their own.
func (s *Sequence) Begin(n int) *Pass {
	s.renew()
	p := s.pool.take(s.batch, n, len(s.passes))
	s.passes = append(s.passes, p)
	return p
}

// renew makes free what the batches before took, once in each batch. A sequence that
// begins no pass learns in this way that it keeps more memory than it needs.
func (s *Sequence) renew() {
	if s.serial != s.batch.serial {
		s.serial = s.batch.serial
		s.pool.rewind()
	}
}

// Join appends the passes of a sequence to the batch; they must have ended and may
// be none. It is called for the sequences of a wave one after another, in the order
// of the systems.
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

// Empty reports whether the sequence holds no commands that are not joined.
func (s *Sequence) Empty() bool {
	return !slices.ContainsFunc(s.passes, func(p *Pass) bool { return !p.empty() })
}

// Drop drops what the sequence recorded since the last Join.
func (s *Sequence) Drop() {
	for i, p := range s.passes {
		p.finish()
		s.passes[i] = nil
	}
	s.pool.used -= len(s.passes) // they were the last, and no flush may ever come
	s.passes = s.passes[:0]
}
