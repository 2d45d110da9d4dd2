package draw

import (
	"math/rand/v2"

	"handloom/proof/script"
)

// Options limit the drawing.
type Options struct {
	Steps   int      // approximate number of operations, including commands
	Misuses []string // kinds of misuse
}

// Script returns the program of a seed.
func Script(seed uint64, o Options) *script.Script {
	d := &drawing{
		// The second word separates the numbers from the numbers of Configs with the same
		// seed.
		Rand:    rand.New(rand.NewPCG(seed, 0x68616e646c6f6f6d)),
		options: o, program: &script.Script{Seed: seed}, next: 1,
	}
	// The order is part of the program of a seed: each call draws numbers.
	d.choose()
	d.tables()
	d.shape()
	d.columns()
	for d.made < d.options.Steps {
		d.step()
	}
	// Otherwise the last commands would never be compared.
	d.add(script.Step{Op: script.Flush})
	return d.program
}

// drawing is a program in the making.
type drawing struct {
	*rand.Rand
	options Options
	program *script.Script
	theme   theme
	made    int // number of operations
	next    int // next free name
	items   int

	known   []*population
	dead    []int
	writing bool
	body    []script.Step
}

// population is the rough account of one table: names by their likely state.
type population struct {
	live     []int
	columns  []string // element kinds
	optional int
	pending  []int
	set      []int
}

// theme parameterizes a program.
type theme struct {
	weights [256]float64
	sizes   []int // of bulk operations
	items   int   // approximate number of items created before bulk operations become small
	keys    int   // upper bound of keys
	hot     float64
	zipf    bool // other tables are drawn by rank
	forged  float64
	stale   float64 // share of handles of erased items
	fresh   float64 // share of live handles that name a recent item
	frames  float64 // share of writes that mostly run passes and flushes
	tasks   int     // upper bound
	busy    int     // upper bound of commands of a task
	links   float64
	grow    float64 // ratio of creates to erases, redrawn from time to time
}

// choose draws the theme and the options of the store.
func (d *drawing) choose() {
	a := &d.theme
	for _, op := range script.Ops() {
		// An operation with weight 0 never occurs in the program.
		if d.Float64() < 0.5 || always(op) {
			a.weights[op] = d.ExpFloat64() * weight(op)
		}
	}
	// Few keys make many equal keys, which sorts must keep in order.
	a.keys = d.oneOf(1, 3, 50, 1000, 1<<30)
	// A hot table gets most of the commands, the others few.
	a.hot = d.share(0, 0, 0.5, 0.95)
	a.zipf = d.IntN(3) == 0
	a.forged = d.share(0, 0.05, 0.15, 0.4)
	a.stale = d.share(0, 0.1, 0.3)
	a.fresh = d.share(0, 0.3, 0.9)
	a.frames = d.share(0, 0.5, 1)
	a.tasks = d.oneOf(1, 2, 4, 4, 8, 16, 40)
	a.busy = d.oneOf(3, 8, 8, 20, 60)
	a.links = d.share(0, 0.2, 0.6, 1)
	a.grow = d.share(0.3, 0.5, 0.7, 0.95)
	// Narrow handles reach depletion and the slot limit within a program.
	if d.IntN(2) == 0 {
		d.program.Narrow = script.Narrow{Generations: d.oneOf(1, 1, 2, 2, 3, 7, 7, 30), Slots: d.oneOf(0, 0, 4, 16, 16, 64)}
	}
	if d.IntN(8) == 0 {
		d.program.Store.InboxLimit = d.oneOf(1, 5, 20)
	}
	if d.IntN(3) == 0 {
		d.program.Store.Seed = 1 + d.IntN(1000)
	}
	// A limit of the batch refuses passes, so few programs have it.
	if d.IntN(12) == 0 {
		d.program.Store.BatchLimit = d.oneOf(1, 20, 200)
	}
}

// always reports whether each program has the operation: without it nothing would happen.
func always(op script.Op) bool {
	switch op {
	case script.Each, script.Flush, script.Emplace, script.EmplaceItems, script.Erase:
		return true
	}
	return false
}

// weight returns the relative frequency of an operation within its group.
func weight(op script.Op) float64 {
	switch op {
	case script.Each, script.Set:
		return 8
	case script.Flush, script.ForEach, script.Emplace, script.Erase, script.Put:
		return 4
	case script.Write, script.Exchange, script.Unset, script.PutSparse, script.RemoveSparse:
		return 3
	case script.EmplaceItems, script.EraseItems:
		return 2
	case script.Discard, script.Misuse,
		script.FailError, script.FailPanic, script.Rollback, script.ReduceInTask:
		return 0.3
	case script.AddColumn, script.AddSparse:
		return 0.5
	case script.EraseAll: // more often, tables would stay small
		return 0.1
	}
	return 1
}

// pick draws an operation by weight. It returns false if all weights are 0.
func (d *drawing) pick(from []script.Op) (script.Op, bool) {
	sum := 0.0
	for _, op := range from {
		sum += d.theme.weights[op]
	}
	at := d.Float64() * sum
	for _, op := range from {
		if at -= d.theme.weights[op]; at < 0 {
			return op, true
		}
	}
	return 0, false
}

// oneOf draws one of the values. A value that occurs twice is twice as likely.
func (d *drawing) oneOf(values ...int) int { return values[d.IntN(len(values))] }

// share is oneOf for shares.
func (d *drawing) share(values ...float64) float64 { return values[d.IntN(len(values))] }

// chance reports true with a probability.
func (d *drawing) chance(share float64) bool { return d.Float64() < share }

// add adds a step to the program or to the open write.
func (d *drawing) add(s script.Step) {
	d.made += 1 + len(s.Body)
	if d.writing {
		d.body = append(d.body, s)
	} else {
		d.program.Steps = append(d.program.Steps, s)
	}
}
