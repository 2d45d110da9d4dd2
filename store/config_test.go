package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"handloom/store"
)

type config struct {
	workers int
	shuffle bool
	team    bool
}

func (c config) String() string {
	return fmt.Sprintf("workers=%d/shuffle=%t/team=%t", c.workers, c.shuffle, c.team)
}

type trial struct {
	tb
	*store.Store
	ctx context.Context
}

func (c config) run(t tb, o store.Options, scenario func(r *trial)) {
	t.Helper()
	o.Workers = c.workers
	r := &trial{tb: t, Store: newStore(t, o), ctx: context.Background()}
	if c.shuffle {
		perturb(t, shuffler(uint64(c.workers)))
		defer perturb(t, nil)
	}
	if !c.team {
		scenario(r)
		return
	}
	noError(t, r.Team(r.ctx, func(ctx context.Context) error {
		r.ctx = ctx
		scenario(r)
		return nil
	}))
}

// shuffler runs tasks in random order, some of them delayed. Concurrent passes may call it.
func shuffler(seed uint64) func(n int) func(task int) int {
	random := rand.New(rand.NewPCG(seed, 1))
	var lock sync.Mutex
	return func(n int) func(task int) int {
		lock.Lock()
		order := random.Perm(n)
		delays := random.IntN(3)
		lock.Unlock()
		var began atomic.Int64
		return func(task int) int {
			for range int(began.Add(1)) % (delays + 1) {
				runtime.Gosched()
			}
			return order[task]
		}
	}
}
