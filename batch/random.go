package batch

import (
	"fmt"
	"math/rand/v2"

	"handloom/internal/digest"
)

// random is the source of random numbers of a queue. Its memory is kept from use to use.
type random struct {
	seed uint64 // of the pass that it is for; 0: not begun
	pcg  rand.PCG
	rand *rand.Rand // of pcg
}

// Seed gives the queues of the pass random numbers, which follow from seed and the task
// alone. Passes of other seeds have other numbers.
func (p *Pass) Seed(seed uint64) { p.seed = max(seed, 1) }

// Rand returns the random numbers of the queue; a second call goes on with them. It panics
// when the pass has no seed, and when the queue was kept past its pass.
func (q Queue) Rand() *rand.Rand {
	if q.buf == nil {
		q.usable(nil) // panics
	}
	buf := q.buf
	q.usable(buf.batch)
	switch {
	case buf.owner == nil:
		panic("store: Rand in a call of the inbox; what arrives is input, and is the same wherever it is applied again: draw the numbers in a pass")
	case buf.owner.seed == 0:
		panic(fmt.Sprintf("store: Rand of %v, which has no random numbers; make the store with Options.Seed, and draw in a pass", q))
	}
	r := buf.random
	if r == nil {
		r = new(random)
		r.rand = rand.New(&r.pcg)
		buf.random = r
	}
	if r.seed != buf.owner.seed {
		r.seed = buf.owner.seed
		var h digest.Hash
		h.Uint64(r.seed)
		h.Uint64(uint64(buf.task))
		high := h.Sum()
		h.Uint64(high)
		r.pcg.Seed(high, h.Sum())
	}
	return r.rand
}
