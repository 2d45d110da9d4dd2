package runner

import (
	"runtime"
	"sync/atomic"
	"time"

	"handloom/proof/script"
)

// injector disturbs the order and the times of tasks, and cancels a flush at a step. No
// result depends on it (D1).
type injector struct {
	config script.Config
	steps  atomic.Uint64 // number of steps

	// cancel is called in parallel step number which.
	cancel func()
	which  int
	fired  atomic.Bool
}

func (d *injector) init(c script.Config) { d.config = c }

// procs sets GOMAXPROCS and returns a function that restores it.
func (d *injector) procs() func() {
	before := runtime.GOMAXPROCS(0)
	if d.config.Procs > 0 {
		runtime.GOMAXPROCS(d.config.Procs)
	}
	return func() { runtime.GOMAXPROCS(before) }
}

// cancelIn makes a task of the which-th parallel step from now on call cancel.
func (d *injector) cancelIn(which int, cancel func()) {
	d.cancel, d.which = cancel, which
	d.fired.Store(false)
}

// cancelled ends cancelIn and reports whether cancel was called.
func (d *injector) cancelled() bool {
	d.cancel = nil
	return d.fired.Swap(false)
}

// step is the [seam.Step] of a run.
func (d *injector) step(tasks int) func(task int) int {
	number := d.steps.Add(1)
	cancel := d.cancel
	if cancel != nil {
		if d.which--; d.which != 0 {
			cancel = nil
		}
	}
	c := &d.config
	if cancel == nil && c.Shuffle == 0 && c.Yield+c.Delay == 0 {
		return nil
	}
	// Each step has an order of its own.
	dice := mix(uint64(c.Shuffle)<<32 ^ number)
	order := d.order(tasks, dice)
	return func(task int) int {
		// The first task of any worker cancels, so that the step has begun.
		if cancel != nil && d.fired.CompareAndSwap(false, true) {
			cancel()
		}
		d.injectFault(mix(dice + uint64(task)))
		return order(task)
	}
}

// order returns a permutation of the tasks without memory: task i is (a*i+b)
// mod tasks, with a coprime to tasks.
func (d *injector) order(tasks int, dice uint64) func(int) int {
	if d.config.Shuffle == 0 || tasks < 2 {
		return func(i int) int { return i }
	}
	a := int(dice%uint64(tasks-1)) + 1
	for divisor(a, tasks) != 1 {
		a++
	}
	b := int(dice >> 32 % uint64(tasks))
	return func(i int) int { return int((uint64(a)*uint64(i) + uint64(b)) % uint64(tasks)) }
}

// divisor returns the greatest common divisor.
func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// injectFault yields or sleeps at random before a task.
func (d *injector) injectFault(dice uint64) {
	c := &d.config
	if int(dice%1000) < c.Yield {
		runtime.Gosched()
	}
	if dice = mix(dice); int(dice%1000) < c.Delay {
		time.Sleep(time.Duration(dice >> 32 % 100_000))
	}
}

// mix scrambles a number (SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
