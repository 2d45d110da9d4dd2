package store_test

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/store"
)

// visitors are players who join, act and leave.
type visitors struct {
	*server
	random                 *rand.Rand
	joining, players, gone []store.Handle[fighter]
}

// move records the actions before a tick.
func (c *visitors) move(q store.Queue) error {
	for len(c.players)+len(c.joining) < 2 || len(c.players) < 12 && c.random.IntN(15) == 0 {
		c.joining = append(c.joining, c.fighters.Emplace(q, newFighter(int(c.server.players.Add(1)-1))))
	}
	if c.random.IntN(40) == 0 && len(c.players) > 0 {
		i := c.random.IntN(len(c.players))
		c.fighters.Erase(q, c.players[i])
		c.gone = append(c.gone, c.players[i])
		c.players = slices.Delete(c.players, i, i+1)
	}
	for _, h := range c.players {
		if c.random.IntN(3) > 0 {
			c.orders.Emplace(q, order{h, c.now + c.random.IntN(9) - 6 + c.random.IntN(7), c.random.IntN(3) - 1, c.random.IntN(4) == 0})
		}
	}
	if len(c.gone) > 0 && c.random.IntN(20) == 0 {
		c.orders.Emplace(q, order{By: c.gone[c.random.IntN(len(c.gone))], Tick: c.now})
		c.fighters.Erase(q, c.gone[0])
	}
	return nil
}

// A client that applies the changes of each tick has the same arena, also if it joins later.
// The lines are equal for any number of workers.
func TestArena_ChangesKeepClientsUpToDate(t *testing.T) {
	ticks := 500
	if testing.Short() {
		ticks = 100
	}
	type outcome struct {
		sent, digest uint64
		lost         int
	}
	var first outcome
	for _, workers := range []int{1, 2, 8} {
		v, err := newServer(store.Options{Workers: workers})
		noError(t, err)
		c := visitors{server: v, random: rand.New(rand.NewPCG(15, 15))}
		lines := make(chan []byte, 1)
		v.followers = append(v.followers, lines)
		sent := fnv.New64a()
		var early, late mirror
		var created, written, erased, bullets int
		for tick := range ticks {
			c.joining = c.joining[:0]
			noError(t, v.send(t.Context(), c.move))
			if tick == ticks/3 {
				late.apply(delta{Fighters: changed[fighter]{Created: list(v.fighters.All())}, Bullets: changed[bullet]{Created: list(v.bullets.All())}})
			}
			noError(t, v.Write(t.Context(), func(ctx context.Context, w *store.Writer) error {
				if err := v.step(ctx, w); err != nil {
					return err
				}
				for _, p := range c.joining {
					c.players = append(c.players, resolve(t, v.fighters, p))
				}
				v.publish(deltaOf(v))
				return nil
			}))
			line := <-lines
			_, _ = sent.Write(line)
			var d delta
			noError(t, json.Unmarshal(line, &d))
			created += len(d.Fighters.Created)
			written += len(d.Fighters.Written)
			erased += len(d.Fighters.Erased)
			bullets += len(d.Bullets.Erased)
			early.apply(d)
			if err := early.differs(v); err != nil {
				t.Fatalf("tick %d: %v", tick, err)
			}
			if tick < ticks/3 {
				continue
			}
			late.apply(d)
			if err := late.differs(v); err != nil {
				t.Fatalf("tick %d, who came later: %v", tick, err)
			}
		}
		if min(created, written, erased, bullets, v.lost) < ticks/100 {
			t.Errorf("too little happened: %d, %d, %d, %d, %d", created, written, erased, bullets, v.lost)
		}
		got := outcome{sent.Sum64(), digest(t, v.Store), v.lost}
		if workers == 1 {
			first = got
		} else if got != first {
			t.Errorf("with %d workers it came to %+v, with one to %+v", workers, got, first)
		}
		noError(t, v.Verify(t.Context()))
	}
}
