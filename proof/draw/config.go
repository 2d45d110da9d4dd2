package draw

import (
	"math/rand/v2"

	"handloom/proof/script"
)

// Configs returns n configurations for a seed. The first has one worker and no
// injected faults; the others are random.
func Configs(seed uint64, n int) []script.Config {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 0x636f6e66696773))}
	// One worker runs tasks in order, so the other runs are compared with the simplest one.
	all := []script.Config{{Workers: 1}}
	for len(all) < n {
		all = append(all, d.config())
	}
	return all
}

// config draws a configuration. Workers may be more than tasks, and GOMAXPROCS less than
// workers.
func (d *drawing) config() script.Config {
	c := script.Config{
		Workers: d.oneOf(0, 2, 2, 2, 3, 3, 4, 4, 7, 8, 16, d.oneOf(33, 64)), Procs: d.oneOf(0, 1, 2, 3, 4, 8),
		Team: d.oneOf(0, 0, 1), Shuffle: 1 + d.IntN(1<<20),
	}
	if d.IntN(4) == 0 {
		c.Shuffle = 0 // workers claim tasks in their own order
	}
	if d.IntN(3) == 0 {
		c.Yield = d.oneOf(10, 200, 1000)
	}
	if d.IntN(4) == 0 {
		c.Delay = d.oneOf(2, 20, 50)
	}
	return c
}
