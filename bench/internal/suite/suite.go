package suite

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"handloom/bench/internal/measure"
)

type Options struct {
	N       []int  // items; nil: the default of the operation
	Workers []int  // for scaling cases, ascending
	Seed    uint64 // of random numbers
}

type set[T item] struct {
	n       int
	workers []int
	seed    uint64
}

// full is a set with the cases that are made for several item types. It is a
// type of its own, because Go compiles all methods of a generic type for each
// of its types.
type full[T item] struct{ set[T] }

type family interface {
	containers() []measure.Case
	bulk() []measure.Case
	tableLookUp() []measure.Case
	sorts() []measure.Case
	comparisons() []measure.Case
	memory() []measure.Case
	flushes() []measure.Case
	puts() []measure.Case
	checkpoints() []measure.Case
	files() []measure.Case
	passes() []measure.Case
}

func (o Options) family(n, size int) family {
	switch size {
	case 8:
		return full[item8]{setOf[item8](o, n)}
	case 64:
		return full[item64]{setOf[item64](o, n)}
	}
	panic(fmt.Sprintf("suite: no family has items of %d bytes", size))
}

func setOf[T item](o Options, n int) set[T] { return set[T]{n, o.Workers, o.Seed} }

func (s set[T]) newCase(op, impl string, open func() *measure.Work) measure.Case {
	return measure.Case{Op: op, Impl: impl, N: s.n, Size: sizeOf[T](), Unit: measure.PerItem, Open: open}
}

func (s set[T]) scaling(op, impl string, open func(workers int) *measure.Work) (cases []measure.Case) {
	for _, workers := range s.workers {
		c := s.newCase(op, impl, func() *measure.Work { return open(workers) })
		c.Workers = workers
		cases = append(cases, c)
	}
	return cases
}

func onOneWorker(c measure.Case) measure.Case {
	c.Workers = 1
	return c
}

func (s set[T]) measured(op, impl string, unit measure.Unit, f func() float64) measure.Case {
	c := s.newCase(op, impl, func() *measure.Work { return &measure.Work{Measure: f} })
	c.Unit = unit
	return c
}

func (s set[T]) random() *rand.Rand { return rand.New(rand.NewPCG(s.seed, uint64(s.n))) }

// kinds lists the makers of cases with their n and sizes, the headline first.
var kinds = []struct {
	make     maker
	n, sizes []int
	headline func(o Options, c *measure.Case) bool // nil: every case
}{
	{sized(family.containers), []int{1e5, 1e6}, []int{8, 64}, allBut("refillrandom")},
	{sized(family.tableLookUp), []int{1e5, 1e6}, []int{8, 64}, nil},
	{sized(family.bulk), []int{1e5, 1e6}, []int{8, 64}, allBut("refillitems", "digest")},
	{sized(family.sorts), []int{1e5, 1e6}, []int{8, 64}, nil},
	{typed(record), []int{1e5}, []int{32}, only("record.emplace", "record.erase")},
	{typed(groups), []int{1e5}, []int{32}, only("groupby")},
	{typed(neighbours), []int{1e5}, []int{32}, none},
	{typed(tableHeap), []int{10}, []int{8}, none},
	{typed(columns), []int{1e6}, []int{64}, only("columnsum", "columnadd")},
	{sized(family.flushes), []int{1e6}, []int{8, 64}, nil},
	{typed(indexFlushes), []int{2e5}, []int{8}, none},
	{sized(family.puts), []int{1e5, 1e6}, []int{8, 64}, none},
	{typed(sparseData), []int{1e5, 1e6}, []int{64}, none},
	{sized(family.checkpoints), []int{1e6, 1e5}, []int{8, 64}, nil},
	{sized(family.files), []int{1e6}, []int{8, 64}, none},
	{sized(appends), nil, nil, none},
	{sized(family.passes), []int{1e6}, []int{8, 64}, nil},
	{typed(emptyPasses), []int{10}, []int{8}, only("emptypass")},
	{typed(fewCommands), []int{2}, []int{8}, none},
	{typed(manyTables), []int{10}, []int{8}, none},
	{typed(registering), []int{64}, []int{8}, none},
	{typed(smallFlushes), []int{1e3, 1e4, 1e5, 1e6}, []int{8}, none},
	{typed(frames), []int{1e6}, []int{32}, none},
	{sized(halves), nil, nil, nil},
	{typed(mixed), []int{1e5, 1e4}, []int{8}, func(o Options, c *measure.Case) bool {
		return c.Impl == "table" || c.Workers == o.Workers[len(o.Workers)-1]
	}},
	{typed(replays), nil, []int{32}, nil},
	{typed(collector), []int{1e6, 5e6}, []int{8}, nil},
	{sized(family.memory), []int{1e5, 1e6}, []int{8, 64}, only("memory")},
	{typed(idleMemory), []int{1e5}, []int{32}, none},
	{sized(family.comparisons), []int{1e5, 1e6}, []int{8, 64}, none},
	{typed(growth), []int{1e7}, []int{8}, none},
}

type maker func(o Options, n, size int) []measure.Case

func sized(cases func(family) []measure.Case) maker {
	return func(o Options, n, size int) []measure.Case { return cases(o.family(n, size)) }
}

// typed makes cases for one item type. Their loops are written for it, as in a
// program.
func typed[T item](cases func(set[T]) []measure.Case) maker {
	return func(o Options, n, _ int) []measure.Case { return cases(setOf[T](o, n)) }
}

func only(ops ...string) func(Options, *measure.Case) bool {
	return func(_ Options, c *measure.Case) bool { return slices.Contains(ops, c.Op) }
}

func allBut(ops ...string) func(Options, *measure.Case) bool {
	return func(_ Options, c *measure.Case) bool { return !slices.Contains(ops, c.Op) }
}

func none(Options, *measure.Case) bool { return false }

func (o Options) All() []measure.Case {
	var cases []measure.Case
	for _, k := range kinds {
		cases = append(cases, o.cases(k.make, k.n, k.sizes)...)
	}
	return Unique(cases)
}

// Headline returns the cases of the default run.
func (o Options) Headline() []measure.Case {
	var cases []measure.Case
	for _, k := range kinds {
		made := o.cases(k.make, k.n[:min(1, len(k.n))], k.sizes[:min(1, len(k.sizes))])
		cases = append(cases, slices.DeleteFunc(made, func(c measure.Case) bool {
			return k.headline != nil && !k.headline(o, &c)
		})...)
	}
	return Unique(cases)
}

func (o Options) cases(build maker, ns, sizes []int) (cases []measure.Case) {
	if len(ns) == 0 {
		ns = []int{0}
	} else if o.N != nil {
		ns = o.N
	}
	if len(sizes) == 0 {
		sizes = []int{8}
	}
	for _, n := range ns {
		for _, size := range sizes {
			for _, c := range build(o, n, size) {
				if n >= large {
					c.Rounds = fewRounds
				}
				cases = append(cases, c)
			}
		}
	}
	return cases
}

// Samples of large n take long; fewRounds is the minimum for an interval.
const (
	large     = 5_000_000
	fewRounds = 6
)

func Unique(cases []measure.Case) []measure.Case {
	seen := make(map[string]bool)
	return slices.DeleteFunc(cases, func(c measure.Case) bool {
		name := c.Name()
		twice := seen[name]
		seen[name] = true
		return twice
	})
}
