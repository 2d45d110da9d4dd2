package batch

import "slices"

// Sequence is a run of passes for a system that records at the same time as others.
// [Batch.Join] gives them a place in the batch that does not depend on timing.
type Sequence struct {
	batch  *Batch
	serial uint64  // batch of the pool
	passes []*Pass // since the last Join or Drop
	pool   passPool
}

// NewSequence returns an empty sequence. Each system of a schedule has its own.
func (b *Batch) NewSequence() *Sequence { return &Sequence{batch: b} }

// Begin starts the next pass, with n queues. Sequences may begin passes at the same time.
func (s *Sequence) Begin(n int) *Pass {
	s.renew()
	p := s.pool.take(s.batch, n, len(s.passes))
	s.passes = append(s.passes, p)
	return p
}

// renew rewinds the pool at the first use in a batch: Finish and Drop of the batch do not
// know the sequences.
func (s *Sequence) renew() {
	if s.serial != s.batch.serial {
		s.serial = s.batch.serial
		s.pool.rewind()
	}
}

// Join appends the ended passes of a sequence to the batch. The sequences of a wave join in
// the order of systems.
func (b *Batch) Join(s *Sequence) {
	s.renew()
	for i, p := range s.passes {
		for task := range p.buffers[:p.tasks] {
			// Until now the number was the place in the sequence, which other sequences use
			// too.
			p.buffers[task].pass = len(b.order)
		}
		p.joined = true
		b.count(p)
		b.order = append(b.order, p)
		s.passes[i] = nil
	}
	s.passes = s.passes[:0]
}

// Empty reports whether no commands wait for Join.
func (s *Sequence) Empty() bool {
	return !slices.ContainsFunc(s.passes, func(p *Pass) bool { return !p.empty() })
}

// Drop drops everything since the last Join. The system that recorded them has failed, or
// its frame has.
func (s *Sequence) Drop() {
	for i, p := range s.passes {
		p.finish()
		s.passes[i] = nil
	}
	s.pool.used -= len(s.passes) // taken last; a flush may never follow
	s.passes = s.passes[:0]
}
