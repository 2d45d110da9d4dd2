package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	killEvery = 5 * time.Second
	downFor   = time.Second
)

// killer takes nodes down, on request and, if it is told to, by itself. One at a time, and
// not before all play: two of three are a quorum.
type killer struct {
	fleet *fleet
	watch *watch
	asked chan int
	kills int
}

func newKiller(f *fleet, w *watch) *killer {
	return &killer{fleet: f, watch: w, asked: make(chan int, 1)}
}

// ask has node i killed as soon as may be; one that is asked for while another waits is
// not.
func (k *killer) ask(i int) {
	select {
	case k.asked <- i:
	default:
	}
}

// run kills until ctx ends. When it returns, all nodes have been started again.
func (k *killer) run(ctx context.Context, byItself bool, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 1<<63))
	var next <-chan time.Time
	if byItself {
		ticker := time.NewTicker(killEvery)
		defer ticker.Stop()
		next = ticker.C
	}
	for {
		i := 0
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchEvery):
			if err := k.restartFailed(); err != nil {
				return err
			}
			continue
		case i = <-k.asked:
		case <-next:
			if !k.watch.settled() {
				continue
			}
			if i = r.IntN(nodes); r.IntN(2) == 0 { // the owner most of the time
				i = k.watch.ownerNow()
			}
		}
		if err := k.kill(ctx, i); err != nil {
			return err
		}
	}
}

// restartFailed starts nodes again that ended by themselves.
func (k *killer) restartFailed() error {
	for i := range nodes {
		if said, failed := k.fleet.failed(i); failed {
			k.watch.say(fmt.Sprintf("node %d has ended by itself: %s", i+1, said))
			if err := k.fleet.start(i); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *killer) kill(ctx context.Context, i int) error {
	was := "a follower"
	if i == k.watch.ownerNow() {
		was = "the owner"
	}
	k.watch.say(fmt.Sprintf("node %d is killed: it was %s", i+1, was))
	k.fleet.kill(i)
	k.kills++
	select {
	case <-time.After(downFor):
	case <-ctx.Done():
	}
	k.watch.say(fmt.Sprintf("node %d is started again", i+1))
	return k.fleet.start(i)
}
