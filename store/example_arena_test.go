package store_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"handloom/store"
)

// fighter is a player's piece in an arena of one dimension.
type fighter struct {
	Player, X, Facing, Hull, Deaths int
}

// bullet flies until it hits somebody or its life ends.
type bullet struct {
	Owner       store.Handle[fighter]
	X, DX, Life int
}

// wound is an event, and therefore an item: many bullets may hit one fighter in
// one tick, and each says so by itself.
type wound struct {
	Target store.Handle[fighter]
	Amount int
}

// intent is what a player sends for a tick, once.
type intent struct {
	Tick, Player, Move int
	Fire               bool
}

// arena is the world. What becomes of it depends on the intents of each tick and
// on nothing else, so that two arenas that are given the same stay equal.
type arena struct {
	*store.Store
	fighters *store.Table[fighter]
	bullets  *store.Table[bullet]
	wounds   *store.Table[wound]
	intents  []intent // of the tick that is played, by player
	frame    *store.Schedule
}

func newArena(s *store.Store, players int) (*arena, error) {
	a := &arena{Store: s}
	var err error
	if a.fighters, err = store.Register(s, store.TableOptions[fighter]{Name: "fighter", ChunkItems: 2}); err != nil {
		return nil, err
	}
	if a.bullets, err = store.Register(s, store.TableOptions[bullet]{Name: "bullet", Shards: 2, ChunkItems: 8}); err != nil {
		return nil, err
	}
	if a.wounds, err = store.Register(s, store.TableOptions[wound]{Name: "wound", ChunkItems: 4}); err != nil {
		return nil, err
	}
	type on = []store.Resource
	a.frame, err = store.NewSchedule(
		s,
		store.System{Name: "fly", Writes: on{a.bullets}, Emits: on{a.bullets}, Run: a.fly},
		store.System{Name: "steer", Writes: on{a.fighters}, Emits: on{a.bullets}, Run: a.steer},
		store.System{Name: "hit", Reads: on{a.fighters}, Writes: on{a.bullets}, Emits: on{a.bullets, a.wounds}, Run: a.hit},
		store.System{Name: "suffer", Reads: on{a.wounds}, Writes: on{a.fighters}, Run: a.suffer},
	)
	if err != nil {
		return nil, err
	}
	return a, s.Write(context.Background(), func(_ context.Context, w *store.Writer) error {
		for player := range players {
			if _, err := a.fighters.Insert(w, fighter{Player: player, X: 10 * player, Facing: 1, Hull: 3}); err != nil {
				return err
			}
		}
		return nil
	})
}

// play plays one tick inside a Write.
func (a *arena) play(ctx context.Context, w *store.Writer, intents []intent) error {
	a.intents = intents
	_, err := a.frame.Run(ctx)
	a.wounds.Clear(w)
	return err
}

func (a *arena) fly(ctx context.Context) error {
	return a.bullets.ForEach(ctx, func(_ context.Context, c store.Chunk[bullet]) error {
		for i := range c.Items {
			b := &c.Items[i]
			b.X += b.DX
			if b.Life--; b.Life == 0 {
				c.Erase(i)
			}
		}
		return nil
	})
}

func byPlayer(i intent, player int) int { return cmp.Compare(i.Player, player) }

func (a *arena) steer(ctx context.Context) error {
	return a.fighters.ForEach(ctx, func(_ context.Context, c store.Chunk[fighter]) error {
		for i := range c.Items {
			f := &c.Items[i]
			at, found := slices.BinarySearchFunc(a.intents, f.Player, byPlayer)
			if !found {
				continue
			}
			if move := a.intents[at].Move; move != 0 {
				f.X += move
				f.Facing = cmp.Compare(move, 0)
			}
			if a.intents[at].Fire {
				a.bullets.Emplace(c.Queue, bullet{Owner: c.Handle(i), X: f.X, DX: 2 * f.Facing, Life: 12})
			}
		}
		return nil
	})
}

func (a *arena) hit(ctx context.Context) error {
	return a.bullets.ForEach(ctx, func(_ context.Context, c store.Chunk[bullet]) error {
		for i, b := range c.Items {
			for h, f := range a.fighters.All() {
				if h != b.Owner && max(f.X-b.X, b.X-f.X) <= 1 {
					a.wounds.Emplace(c.Queue, wound{Target: h, Amount: 1})
					c.Erase(i) // once or twice, that is the same
				}
			}
		}
		return nil
	})
}

func (a *arena) suffer(ctx context.Context) error {
	type amounts = map[store.Handle[fighter]]int
	sum, err := store.Reduce(ctx, a.wounds, func(_ context.Context, r store.Rows[wound]) (amounts, error) {
		sum := make(amounts)
		for _, w := range r.Items {
			sum[w.Target] += w.Amount
		}
		return sum, nil
	}, func(x, y amounts) amounts {
		for h, amount := range maps.All(y) { // whole numbers: the order does not matter
			x[h] += amount
		}
		return x
	})
	if err != nil {
		return err
	}
	return a.fighters.ForEach(ctx, func(_ context.Context, c store.Chunk[fighter]) error {
		for i := range c.Items {
			f := &c.Items[i]
			if f.Hull -= sum[c.Handle(i)]; f.Hull <= 0 {
				f.X, f.Hull, f.Deaths = 10*f.Player, 3, f.Deaths+1
			}
		}
		return nil
	})
}

// history is how many ticks an intent may be late.
const history = 8

// server runs an arena for players whose intents come over a network, some of
// them late.
type server struct {
	lobby *store.Store // for what arrives: when it does is no business of the arena's
	mail  *store.Table[intent]

	arena     *arena
	log       map[int][]intent          // by tick, and then by player
	before    [history]store.Checkpoint // of the arena: before tick t at t%history
	next      int                       // tick
	rollbacks int
	lost      int // intents that came too late
}

func newServer(o store.Options, players int) (*server, error) {
	v := &server{log: make(map[int][]intent)}
	world, err := store.New(o)
	if err != nil {
		return nil, err
	}
	if v.arena, err = newArena(world, players); err != nil {
		return nil, err
	}
	if v.lobby, err = store.New(store.Options{}); err != nil {
		return nil, err
	}
	v.mail, err = store.Register(v.lobby, store.TableOptions[intent]{Name: "mail"})
	return v, err
}

// send takes an intent from the network. Any goroutine may call it at any time.
func (v *server) send(i intent) error {
	return v.lobby.Inbox(func(q store.Queue) error {
		v.mail.Emplace(q, i)
		return nil
	})
}

// tick plays the next tick and, if intents for earlier ones have arrived, those
// again. It is one Write, so that readers see whole ticks and no going back.
func (v *server) tick(ctx context.Context) error {
	from, err := v.receive(ctx)
	if err != nil {
		return err
	}
	return v.arena.Write(ctx, func(ctx context.Context, w *store.Writer) error {
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
}

// receive sorts what has arrived into the log and returns the earliest tick that
// it is for. The log does not tell in which order it came.
func (v *server) receive(ctx context.Context) (from int, err error) {
	from = v.next
	err = v.lobby.Write(ctx, func(ctx context.Context, w *store.Writer) error {
		if _, err := v.lobby.Flush(ctx); err != nil {
			return err
		}
		for _, i := range v.mail.All() {
			at, found := slices.BinarySearchFunc(v.log[i.Tick], i.Player, byPlayer)
			switch {
			case i.Tick < v.next-history:
				v.lost++
			case !found: // networks deliver some things twice
				v.log[i.Tick] = slices.Insert(v.log[i.Tick], at, *i)
				from = min(from, i.Tick)
			}
		}
		v.mail.Clear(w)
		return nil
	})
	return from, err
}

// ServeHTTP shows the arena as it is between two ticks.
func (v *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var b strings.Builder
	err := v.arena.Read(r.Context(), func(context.Context) error {
		for _, f := range v.arena.fighters.All() {
			fmt.Fprintf(&b, "player %d: at %d, hull %d, %d deaths\n", f.Player, f.X, f.Hull, f.Deaths)
		}
		return nil
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprint(w, &b)
}

// A game server: ticks that are one Write each, intents that arrive when they
// like, damage as items, and going back when one was late.
func Example_arenaServer() {
	ctx := context.Background()
	const players, ticks = 4, 200
	punctual, err1 := newServer(store.Options{}, players)
	late, err2 := newServer(store.Options{}, players)
	if err1 != nil || err2 != nil {
		fmt.Println(err1, err2)
		return
	}
	for t := range ticks + history {
		for player := range players {
			// What the player does in tick t reaches one server at once, and the
			// other up to five ticks later.
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
