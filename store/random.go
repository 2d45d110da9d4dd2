package store

import (
	"math/rand/v2"

	"handloom/batch"
	"handloom/internal/digest"
	"handloom/internal/items"
	"handloom/internal/paged"
)

// Rand returns the random numbers of the task. They depend on [Options.Seed], the state and
// the place of the task in the program: they are equal for any number of workers, on every
// replica, and again after a [Store.Rollback] or [Store.Load]. A second call returns the same
// source, which continues. Rand takes O(1) time and allocates nothing in the steady state.
//
// Their seed is made of Options.Seed, the turn, and the number of the task. Each pass outside
// of a schedule and each Run is a turn, also one that fails or has no tasks; in a Run the
// name of the system and the number of its pass in that Run are part of the seed, so that a
// further system changes nothing for the others.
//
// It panics without Seed, and for the queues of [Store.Inbox], [Store.Submit] and
// [Store.Queues], which are no tasks of a pass.
func (q Queue) Rand() *rand.Rand { return batch.Queue(q).Rand() }

// random holds the seed of the random numbers of the next pass, as a part of the state.
type random struct {
	value table
	maps  [MaxShards]*paged.Set
}

// turns is the item of the value.
type turns struct{ Seed, Turn uint64 }

// newRandom adds the value to s, which has no tables yet.
func newRandom(s *Store, seed uint64) *random {
	r := new(random)
	initial := items.From([]turns{{Seed: seed}})
	if err := r.value.addValue(s, &r.maps, columnOptions{name: "store.Rand"}, randomValue, initial, items.For[turns](), paged.TypeFor[turns]()); err != nil {
		panic(err) // nothing has the name or the typeId
	}
	return r
}

// pass seeds a pass that begins, of a system or of none. Systems of a wave call it at the
// same time.
func (r *random) pass(y *system, p *batch.Pass) {
	at := (*turns)(r.value.one())
	if y == nil {
		at.Turn++
		p.Seed(at.Seed, at.Turn)
		return
	}
	y.passes++
	p.Seed(at.Seed, at.Turn, y.nameHash, y.passes)
}

// nameHash tells the systems of a Run apart.
func nameHash(name string) uint64 {
	var h digest.Hash
	h.String(name)
	return h.Sum()
}

// run begins the turn of a Run.
func (r *random) run(c *Schedule) {
	(*turns)(r.value.one()).Turn++
	for _, y := range c.systems {
		y.passes = 0
	}
}
