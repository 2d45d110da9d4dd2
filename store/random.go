package store

import (
	"math/rand/v2"

	"handloom/batch"
	"handloom/internal/digest"
	"handloom/internal/items"
	"handloom/internal/paged"
)

// Rand returns the random numbers of the task. They depend on [Options.Seed], the state
// and the place of the task in the program, so they are equal for any number of workers,
// on every replica, and after a [Store.Rollback] or [Store.Load]. Further calls return
// the same source. Rand takes O(1) time and allocates nothing in steady use.
//
// The seed consists of Options.Seed, a turn, and the number of the task. Each pass
// outside a schedule and each Run is a turn, even if it fails or has no tasks. In a Run
// the seed also has the name of the system and the number of its pass in the Run, so a
// further system does not affect others.
//
// IntN and other methods with a bound draw other numbers on 32-bit machines, except Uint32N.
//
// Rand panics without Seed, and for the queues of [Store.Inbox], [Store.Submit] and
// [Store.Queues].
func (q Queue) Rand() *rand.Rand { return batch.Queue(q).Rand() }

// random holds the seed of the next pass, as a part of the state.
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
		panic(err) // name and typeId are free
	}
	return r
}

// pass seeds a pass of y or, if y is nil, outside a schedule. Systems of a wave call it
// at the same time.
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

// nameHash returns the part of the seed that distinguishes systems.
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
