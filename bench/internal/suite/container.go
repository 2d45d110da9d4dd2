package suite

import (
	"math/rand/v2"

	"handloom/bench/internal/measure"
)

// container is one implementation with its n items and their names. Each method
// loops over all items, so that the cost of the call vanishes.
type container interface {
	fresh(reserve bool) // new, without room or with room for all items
	insert()
	shuffle([]uint32) // shuffles names
	random() []uint32
	iterate()        // over the first words of all items
	lookUp()         // by name, in order of insertion
	lookUpShuffled() // by name, in random order
	erase()          // by name, in random order
	churn()          // by name, in random order: erase an item and insert another
	clear()
}

func fill(c container) {
	c.fresh(true)
	c.insert()
	c.shuffle(c.random())
}

func eraseAtRandom(c container) {
	c.shuffle(c.random())
	c.erase()
}

func containers[T item]() []implementation[T] {
	return []implementation[T]{
		{"handlemap", func(l load[T]) container { return &packed[T]{load: l} }},
		{"slotmap", func(l load[T]) container { return &stable[T]{load: l} }},
		{"straight", func(l load[T]) container { return &byHand[T]{load: l} }},
		{"map", func(l load[T]) container { return &goMap[T]{load: l} }},
	}
}

type implementation[T item] struct {
	name string
	make func(load[T]) container
}

type load[T item] struct {
	values []T
	order  []uint32 // permutation of their indices
}

func newLoad[T item](n int, r *rand.Rand) load[T] {
	return load[T]{values[T](n), permutation(r, n)}
}

func (l load[T]) random() []uint32 { return l.order }

type names[N any] struct {
	inOrder  []N
	shuffled []N
}

func (n *names[N]) reset(size int) {
	n.inOrder = append(n.inOrder[:0], make([]N, size)...)
}

func (n *names[N]) shuffle(order []uint32) {
	n.shuffled = n.shuffled[:0]
	for _, i := range order {
		n.shuffled = append(n.shuffled, n.inOrder[i])
	}
}

type operation struct {
	op      string
	with    string
	once    func(container)
	prepare func(container) // before every body
	body    func(container)
}

var operations = []operation{
	{op: "create", with: "insert", prepare: func(c container) { c.fresh(false) }, body: container.insert},
	{op: "insert", prepare: func(c container) { c.fresh(true) }, body: container.insert},
	{op: "refillrandom", once: fill, prepare: eraseAtRandom, body: container.insert},
	{op: "iterate", once: fill, body: container.iterate},
	{op: "getinorder", once: fill, body: container.lookUp},
	{op: "get", once: fill, body: container.lookUpShuffled},
	{op: "erase", prepare: fill, body: container.erase},
	{op: "churn", once: fill, body: container.churn},
	{op: "clear", prepare: fill, body: container.clear},
}

func (s full[T]) containers() (cases []measure.Case) {
	for _, o := range operations {
		for _, impl := range containers[T]() {
			c := s.newCase(o.op, impl.name, func() *measure.Work { return s.work(impl.make(s.load()), o) })
			c.With = o.with
			cases = append(cases, c)
		}
	}
	return cases
}

func (s set[T]) load() load[T] { return newLoad[T](s.n, s.random()) }

func (s full[T]) work(c container, o operation) *measure.Work {
	w := &measure.Work{Items: s.n, Body: func() { o.body(c) }}
	if o.once != nil {
		o.once(c)
	}
	if o.prepare != nil {
		w.Prepare = func() { o.prepare(c) }
	}
	return w
}
