package store_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"handloom/store"
)

// history is the maximum delay of an intent in ticks.
const history = 8

// replica is an arena on the machine of one player. Intents arrive over a network, some of them
// late, and the replica runs ahead without them.
type replica struct {
	lobby *store.Store // for arriving intents; their timing must not affect the arena
	mail  *store.Table[intent]

	arena     *arena
	log       map[int][]intent          // by tick, then by player
	before    [history]store.Checkpoint // the state before tick t is at t%history
	next      int                       // next tick
	rollbacks int
	lost      int // intents that came too late
}

func newReplica(o store.Options, players int) (*replica, error) {
	v := &replica{log: make(map[int][]intent)}
	world := store.New(o)
	var err error
	v.arena, err = newArena(world, players)
	v.lobby = store.New(store.Options{})
	v.mail = store.Register(v.lobby, store.TableOptions[intent]{Name: "mail"})
	return v, err
}

// send delivers an intent from the network. Any goroutine may call it at any time.
func (v *replica) send(i intent) error {
	return v.lobby.Inbox(func(q store.Queue) error {
		v.mail.Emplace(q, i)
		return nil
	})
}

// region tick

// tick runs the next tick, and first repeats the ticks that have new intents. It is one Frame,
// so readers see whole ticks.
func (v *replica) tick(ctx context.Context) error {
	from, err := v.receive(ctx)
	if err != nil {
		return err
	}
	_, err = v.arena.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
		if from < v.next {
			v.rollbacks++
			if err := v.arena.Rollback(ctx, &v.before[from%history]); err != nil {
				return err
			}
		}
		for t := from; t <= v.next; t++ {
			if err := v.arena.Checkpoint(ctx, &v.before[t%history]); err != nil {
				return err
			}
			if err := v.arena.play(ctx, w, v.log[t]); err != nil {
				return err
			}
		}
		v.next++
		delete(v.log, v.next-1-history)
		return nil
	})
	return err
}

// endregion

// receive moves arrived intents to the log and returns the earliest tick among them. The log
// does not depend on their order.
func (v *replica) receive(ctx context.Context) (from int, err error) {
	from = v.next
	_, err = v.lobby.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
		if _, err := v.lobby.Flush(ctx); err != nil {
			return err
		}
		for _, i := range v.mail.All() {
			at, found := slices.BinarySearchFunc(v.log[i.Tick], i.Player, byPlayer)
			switch {
			case i.Tick < v.next-history:
				v.lost++
			case !found: // networks deliver twice
				v.log[i.Tick] = slices.Insert(v.log[i.Tick], at, *i)
				from = min(from, i.Tick)
			}
		}
		v.mail.Clear(w)
		return nil
	})
	return from, err
}

// Rollback netcode: replicas of one arena receive the same intents at different times. A
// replica that receives an intent late goes back and runs the later ticks again.
func Example_netcode() {
	ctx := context.Background()
	const players, ticks = 4, 200
	punctual, err1 := newReplica(store.Options{}, players)
	late, err2 := newReplica(store.Options{}, players)
	if err1 != nil || err2 != nil {
		fmt.Println(err1, err2)
		return
	}
	for t := range ticks + history {
		for player := range players {
			// The intents for tick t reach one server at once, and the other up to five ticks
			// later.
			do := func(tick int) intent {
				return intent{tick, player, (tick/7+player)%3 - 1, tick%5 == player}
			}
			if t < ticks {
				_ = punctual.send(do(t))
			}
			if tick := t - (player*7)%6; tick >= 0 && tick < ticks {
				_ = late.send(do(tick))
			}
		}
		if err := cmp.Or(punctual.tick(ctx), late.tick(ctx)); err != nil {
			fmt.Println(err)
		}
	}
	for _, f := range punctual.arena.fighters.All() {
		fmt.Printf("player %d at %d: %d deaths\n", f.Player, f.X, f.Deaths)
	}
	a, _ := punctual.arena.Digest(ctx)
	b, _ := late.arena.Digest(ctx)
	fmt.Println("going back", punctual.rollbacks, "and", late.rollbacks, "times, equal:", a == b)
	// Output:
	// player 0 at 0: 8 deaths
	// player 1 at 14: 12 deaths
	// player 2 at 20: 13 deaths
	// player 3 at 30: 6 deaths
	// going back 0 and 202 times, equal: true
}
