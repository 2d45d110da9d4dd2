package main

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"handloom/cluster/internal/nemesis"
	"handloom/store"
)

// field is the arena after a tick.
type field struct {
	Fighters []fighter
	Bullets  []bullet
}

func newGame(workers int) (*nemesis.Game, error) {
	g := newArena(workers)
	return &nemesis.Game{
		Store: g.store,
		World: g.options(),
		Call: func(_ uint64, text string) (func(q store.Queue) error, error) {
			var o order
			err := json.Unmarshal([]byte(text), &o)
			return func(q store.Queue) error {
				g.orders.Emplace(q, o)
				return nil
			}, err
		},
		Keys: func(uint64) (keys []uint64) {
			for _, o := range g.obeyed {
				keys = append(keys, key(o))
			}
			return keys
		},
		View: func() any {
			f := field{Fighters: []fighter{}, Bullets: []bullet{}}
			for _, item := range g.fighters.All() {
				f.Fighters = append(f.Fighters, *item)
			}
			for _, item := range g.bullets.All() {
				f.Bullets = append(f.Bullets, *item)
			}
			return f
		},
	}, nil
}

func key(o order) uint64 { return o.Player<<32 | o.Number }

const orderEvery = 100 * time.Millisecond

// players counts the orders of all players.
type players struct{ answered, again atomic.Int64 }

// play sends orders of one player, with retries until a node answers.
func (p *players) play(ctx context.Context, c *nemesis.Client) {
	o := order{Player: uint64(c.Number), Turn: heading(c.Random.IntN(4))}
	turn := time.NewTicker(orderEvery)
	defer turn.Stop()
	for ctx.Err() == nil {
		o.Number++
		if c.Random.IntN(6) == 0 {
			o.Turn = heading(c.Random.IntN(4))
		}
		o.Step, o.Fire = c.Random.IntN(4) > 0, c.Random.IntN(5) == 0
		text, _ := json.Marshal(o)
		for again := false; ; again = true {
			if done, _ := c.Call(key(o), string(text), again); done {
				break
			}
			if ctx.Err() != nil {
				return
			}
			p.again.Add(1)
		}
		p.answered.Add(1)
		select {
		case <-turn.C:
		case <-ctx.Done():
		}
	}
}
