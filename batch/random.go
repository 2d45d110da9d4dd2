package batch

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// random is the source of a queue. The queue keeps it for later passes, so that Rand
// allocates once.
type random struct {
	seed uint64 // the pass's seed; 0: none
	pcg  rand.PCG
	rand *rand.Rand
}

// Seed gives the queues random numbers that depend only on words and the task.
func (p *Pass) Seed(words ...uint64) {
	p.seed = 0
	for _, w := range words {
		p.seed = mix(p.seed, w)
	}
	// Seed 0 means that the pass has no random numbers.
	p.seed = max(p.seed, 1)
	for task := range p.buffers[:p.tasks] {
		if r := p.buffers[task].random; r != nil {
			// The pass before may have had the same seed, and its numbers must begin again.
			r.seed = 0
		}
	}
}

// mix mixes all bits of a and b. It is the output function of SplitMix64 (Steele, Lea,
// Flood: Fast Splittable Pseudorandom Number Generators, 2014).
func mix(a, b uint64) uint64 {
	v := bits.RotateLeft64(a, 32) + b + 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// Rand returns the random source of the queue, which depends only on seed, pass and task.
// It panics if the pass has no seed or has ended.
func (q Queue) Rand() *rand.Rand {
	if q.buf == nil {
		q.usable(nil)
	}
	buf := q.buf
	q.usable(buf.batch)
	switch {
	case buf.owner == nil:
		panic("store: Rand in a call of the inbox; calls are input and the same in every replay: draw the numbers in a pass")
	case buf.owner.seed == 0:
		panic(fmt.Sprintf("store: Rand of %v, which has no random numbers; make the store with Options.Seed, and draw in a pass", q))
	}
	r := buf.random
	if r == nil {
		r = new(random)
		r.rand = rand.New(&r.pcg)
		buf.random = r
	}
	// The first Rand of the task in this pass: a task without Rand pays nothing.
	if r.seed != buf.owner.seed {
		r.seed = buf.owner.seed
		high := mix(r.seed, uint64(buf.task))
		r.pcg.Seed(high, mix(high, r.seed))
	}
	return r.rand
}
