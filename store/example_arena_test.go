package store_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"

	"handloom/store"
	"handloom/store/storeweb"
)

// fighter is a player's piece in an arena of one dimension.
type fighter struct {
	Player, X, Facing, Hull, Deaths int
}

func newFighter(player int) fighter {
	return fighter{Player: player, X: 10 * player, Facing: 1, Hull: 3}
}

// bullet flies until it hits a fighter or its life ends.
type bullet struct {
	Owner       store.Handle[fighter]
	X, DX, Life int
}

// wound is an event, and therefore an item: many bullets may hit one fighter in one tick.
type wound struct {
	Target store.Handle[fighter]
	Amount int
}

// intent is the input of one player for one tick.
type intent struct {
	Tick, Player, Move int
	Fire               bool
}

// arena is the world. Its state depends only on the intents of each tick, so two arenas with
// the same input stay equal.
type arena struct {
	*store.Store
	fighters *store.Table[fighter]
	bullets  *store.Table[bullet]
	wounds   *store.Table[wound]
	intents  []intent // input of the current tick, by player
	frame    *store.Schedule
}

func newArena(s *store.Store, players int) (*arena, error) {
	a := &arena{Store: s}
	a.fighters = store.Register(s, store.TableOptions[fighter]{Name: "fighter", ChunkItems: 2, Changes: true})
	a.bullets = store.Register(s, store.TableOptions[bullet]{Name: "bullet", Shards: 2, ChunkItems: 8, Changes: true})
	a.wounds = store.Register(s, store.TableOptions[wound]{Name: "wound", ChunkItems: 4})
	type on = []store.Resource
	a.frame = store.NewSchedule(
		s,
		store.System{Name: "fly", Writes: on{a.bullets}, Emits: on{a.bullets}, Run: a.fly},
		store.System{Name: "steer", Writes: on{a.fighters}, Emits: on{a.bullets}, Run: a.steer},
		store.System{Name: "hit", Reads: on{a.fighters}, Writes: on{a.bullets}, Emits: on{a.bullets, a.wounds}, Run: a.hit},
		store.System{Name: "suffer", Reads: on{a.wounds}, Writes: on{a.fighters}, Emits: on{a.fighters}, Run: a.takeDamage},
	)
	return a, s.Write(context.Background(), func(w *store.Writer) {
		for player := range players {
			a.fighters.Insert(w, newFighter(player))
		}
	})
}

// play runs one tick inside a Write.
func (a *arena) play(ctx context.Context, w *store.Writer, intents []intent) error {
	a.intents = intents
	_, err := a.frame.Run(ctx)
	a.wounds.Clear(w)
	return err
}

func (a *arena) fly(ctx context.Context) error {
	return a.bullets.ForEach(ctx, func(c store.Chunk[bullet]) {
		for i := range c.Items {
			b := &c.Items[i]
			b.X += b.DX
			if b.Life--; b.Life == 0 {
				c.Erase(i)
			}
		}
		c.WroteAll()
	})
}

func byPlayer(i intent, player int) int { return cmp.Compare(i.Player, player) }

func (a *arena) steer(ctx context.Context) error {
	return a.fighters.ForEach(ctx, func(c store.Chunk[fighter]) {
		for i := range c.Items {
			f := &c.Items[i]
			at, found := slices.BinarySearchFunc(a.intents, f.Player, byPlayer)
			if !found {
				continue
			}
			if move := a.intents[at].Move; move != 0 {
				f.X += move
				f.Facing = cmp.Compare(move, 0)
				c.Wrote(i)
			}
			if a.intents[at].Fire {
				a.bullets.Emplace(c.Queue, bullet{Owner: c.Handle(i), X: f.X, DX: 2 * f.Facing, Life: 12})
			}
		}
	})
}

func (a *arena) hit(ctx context.Context) error {
	return a.bullets.ForEach(ctx, func(c store.Chunk[bullet]) {
		for i, b := range c.Items {
			for h, f := range a.fighters.All() {
				if h != b.Owner && max(f.X-b.X, b.X-f.X) <= 1 {
					a.wounds.Emplace(c.Queue, wound{Target: h, Amount: 1})
					c.Erase(i) // erasing twice is safe
				}
			}
		}
	})
}

func (a *arena) takeDamage(ctx context.Context) error {
	type amounts = map[store.Handle[fighter]]int
	sum, err := store.Reduce(ctx, a.wounds, func(r store.Chunk[wound]) amounts {
		sum := make(amounts)
		for _, w := range r.Items {
			sum[w.Target] += w.Amount
		}
		return sum
	}, func(x, y amounts) amounts {
		for h, amount := range maps.All(y) { // integers: the order does not matter
			x[h] += amount
		}
		return x
	})
	if err != nil {
		return err
	}
	return a.fighters.ForEach(ctx, func(c store.Chunk[fighter]) {
		for i := range c.Items {
			f, amount := &c.Items[i], sum[c.Handle(i)]
			if amount == 0 {
				continue
			}
			f.Hull -= amount
			c.Wrote(i)
			if f.Hull <= 0 { // the next fighter has the same handle
				next := newFighter(f.Player)
				next.Facing, next.Deaths = f.Facing, f.Deaths+1
				a.fighters.Put(c.Queue, c.Handle(i), next)
			}
		}
	})
}

// order is an action that a player wants in a tick. It waits in a table because it may arrive
// long before its tick.
type order struct {
	By         store.Handle[fighter]
	Tick, Move int
	Fire       bool
}

const (
	grace = 4  // maximum delay of an order in ticks
	ahead = 30 // maximum lead of an order in ticks
)

// server runs an arena for players who join and act over HTTP, and sends the changes of each
// tick to followers.
type server struct {
	*arena
	orders *store.Table[order]
	now    int // next tick; read and written inside phases
	lost   int // orders that came too late, too early, or twice

	submit func(ctx context.Context, f func(q store.Queue) error) (*store.Receipt, error) // waits for a tick
	send   func(ctx context.Context, f func(q store.Queue) error) error                   // does not wait

	players atomic.Int64

	mutex     sync.Mutex
	followers []chan []byte
}

func newServer(o store.Options) (*server, error) {
	s := store.New(o)
	v := new(server)
	v.orders = store.Register(s, store.TableOptions[order]{Name: "order"})
	v.submit = s.Submit
	v.send = func(_ context.Context, f func(q store.Queue) error) error { return s.Inbox(f) }
	var err error
	v.arena, err = newArena(s, 0)
	return v, err
}

// tick runs one tick as one Frame, so readers see whole ticks. Calls that arrive meanwhile wait
// for the next one.
func (v *server) tick(ctx context.Context) error {
	_, err := v.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
		if err := v.step(ctx, w); err != nil {
			return err
		}
		v.publish(deltaOf(v))
		return nil
	})
	return err
}

// step changes the arena.
func (v *server) step(ctx context.Context, w *store.Writer) error {
	if _, err := v.Flush(ctx); err != nil { // takes joins, leaves and orders
		return err
	}
	if err := v.play(ctx, w, v.due(w)); err != nil {
		return err
	}
	v.now++
	return nil
}

// due removes the orders of the current tick from their table and returns them by player. An
// order may be a few ticks late. The newest order of a player counts.
func (v *server) due(w *store.Writer) (intents []intent) {
	var done []store.Handle[order]
	for h, o := range v.orders.All() {
		f, plays := v.fighters.Get(o.By)
		if early := o.Tick > v.now; early && o.Tick <= v.now+ahead && plays {
			continue // it waits
		} else if done = append(done, h); early || o.Tick < v.now-grace || !plays {
			v.lost++
			continue
		}
		i := intent{o.Tick, f.Player, o.Move, o.Fire}
		at, found := slices.BinarySearchFunc(intents, f.Player, byPlayer)
		switch {
		case !found:
			intents = slices.Insert(intents, at, i)
			continue
		case intents[at].Tick < o.Tick:
			intents[at] = i
		}
		v.lost++
	}
	for _, h := range done {
		v.orders.Remove(w, h)
	}
	return intents
}

// handler serves players, followers and operators.
func (v *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /join", v.join)
	mux.HandleFunc("POST /act", v.act)
	mux.HandleFunc("GET /follow", v.follow)
	mux.Handle("/debug/store/", storeweb.Handler(v.Store, v.frame))
	return mux
}

// join answers after the tick that creates the player's fighter. The receipt has its handle.
func (v *server) join(w http.ResponseWriter, r *http.Request) {
	var p store.Handle[fighter]
	receipt, err := v.submit(r.Context(), func(q store.Queue) error {
		p = v.fighters.Emplace(q, newFighter(int(v.players.Add(1)-1)))
		return nil
	})
	if err != nil {
		refuse(w, err)
		return
	}
	h, _ := store.Resolved(receipt, p)
	_, _ = w.Write(encode(h))
}

// act records an order. The tick decides whether it is in time.
func (v *server) act(w http.ResponseWriter, r *http.Request) {
	var o order
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&o)
	if err != nil || max(o.Move, -o.Move) > 1 {
		http.Error(w, fmt.Sprintf("no order: %v, %+v", err, o), http.StatusBadRequest)
		return
	}
	err = v.send(r.Context(), func(q store.Queue) error {
		v.orders.Emplace(q, o)
		return nil
	})
	if err != nil {
		refuse(w, err)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// refuse reports that the store is full or closed, or that the player has left.
func refuse(w http.ResponseWriter, err error) {
	http.Error(w, err.Error(), http.StatusServiceUnavailable)
}

// delta is the change of one tick: a line of JSON for followers.
type delta struct {
	Tick     int
	Fighters changed[fighter]
	Bullets  changed[bullet]
}

// changed has the changed items of one table.
type changed[T any] struct {
	Created, Written []named[T]
	Erased           []store.Handle[T]
}

// named is an item and its handle.
type named[T any] struct {
	Handle store.Handle[T]
	Value  T
}

// deltaOf collects the changes of the frame from the change lists of the store.
func deltaOf(v *server) delta {
	return delta{Tick: v.now, Fighters: changedIn(v.fighters), Bullets: changedIn(v.bullets)}
}

func changedIn[T any](t *store.Table[T]) (c changed[T]) {
	c.Created = list(store.Created(t))
	c.Written = list(store.Written(t))
	for h := range store.Erased(t) {
		c.Erased = append(c.Erased, h)
	}
	return c
}

func list[T any](items iter.Seq2[store.Handle[T], *T]) (all []named[T]) {
	for h, v := range items {
		all = append(all, named[T]{h, *v})
	}
	return all
}

// follow sends the whole arena as if it had just been created, and then the changes of each
// tick. Both come from one Read, so no tick is lost or repeated.
func (v *server) follow(w http.ResponseWriter, r *http.Request) {
	lines := make(chan []byte, 64)
	err := v.Read(r.Context(), func(context.Context) error {
		lines <- encode(delta{
			Tick:     v.now,
			Fighters: changed[fighter]{Created: list(v.fighters.All())},
			Bullets:  changed[bullet]{Created: list(v.bullets.All())},
		})
		v.mutex.Lock()
		defer v.mutex.Unlock()
		v.followers = append(v.followers, lines)
		return nil
	})
	if err != nil {
		refuse(w, err)
		return
	}
	defer v.forget(lines)
	for {
		select {
		case <-r.Context().Done():
			return
		case line, more := <-lines:
			if !more {
				return
			}
			if _, err := w.Write(line); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// publish sends the line of a tick to each follower. It drops followers that are too slow,
// because a tick never waits.
func (v *server) publish(d delta) {
	line := encode(d)
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.followers = slices.DeleteFunc(v.followers, func(lines chan []byte) bool {
		select {
		case lines <- line:
			return false
		default:
			close(lines)
			return true
		}
	})
}

func (v *server) forget(lines chan []byte) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.followers = slices.DeleteFunc(v.followers, func(l chan []byte) bool { return l == lines })
}

// encode returns a line of JSON.
func encode(v any) []byte {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err) // these types always encode
	}
	return append(line, '\n')
}

// mirror is a client's copy of the arena.
type mirror struct {
	tick     int
	fighters map[store.Handle[fighter]]fighter
	bullets  map[store.Handle[bullet]]bullet
}

// apply applies the changes of a tick.
func (m *mirror) apply(d delta) {
	m.tick = d.Tick
	m.fighters = d.Fighters.applyTo(m.fighters)
	m.bullets = d.Bullets.applyTo(m.bullets)
}

func (c changed[T]) applyTo(items map[store.Handle[T]]T) map[store.Handle[T]]T {
	if items == nil {
		items = make(map[store.Handle[T]]T)
	}
	for _, list := range [][]named[T]{c.Created, c.Written} {
		for _, n := range list {
			items[n.Handle] = n.Value
		}
	}
	for _, h := range c.Erased {
		delete(items, h)
	}
	return items
}

// differs returns the first difference between the mirror and the arena.
func (m *mirror) differs(v *server) error {
	return errors.Join(differs("fighter", v.fighters, m.fighters), differs("bullet", v.bullets, m.bullets))
}

func differs[T comparable](name string, t *store.Table[T], items map[store.Handle[T]]T) error {
	for h, v := range t.All() {
		if got, ok := items[h]; !ok || got != *v {
			return fmt.Errorf("%s %v is %+v, and the client has %+v, %t", name, h, *v, got, ok)
		}
	}
	if len(items) != t.Len() {
		return fmt.Errorf("the client has %d items of %d: %s", len(items), t.Len(), name)
	}
	return nil
}

// A game server over HTTP: players join and act while ticks run. Each tick is one Frame and one
// frame. Damage is items. Late orders run late or are lost. A client that receives the created,
// replaced, written and erased items of each tick has the same arena, without comparisons.
func Example_arenaServer() {
	ctx := context.Background()
	v, err := newServer(store.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	web := httptest.NewServer(v.handler())
	defer web.Close()

	// Two players join. Each request is answered after a tick has created its fighter.
	var players []store.Handle[fighter]
	for range 2 {
		joined := make(chan store.Handle[fighter])
		go func() {
			var h store.Handle[fighter]
			answer, err := http.Post(web.URL+"/join", "", nil)
			if err == nil {
				err = cmp.Or(json.NewDecoder(answer.Body).Decode(&h), answer.Body.Close())
			}
			if err != nil {
				fmt.Println(err)
			}
			joined <- h
		}()
		for want := len(players) + 1; len(players) < want; {
			select {
			case h := <-joined:
				players = append(players, h)
			default:
				if err := v.tick(ctx); err != nil {
					fmt.Println(err)
				}
			}
		}
	}
	fmt.Println("playing:", players)

	// A client follows the arena.
	answer, err := http.Get(web.URL + "/follow")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	lines := json.NewDecoder(answer.Body)
	var client mirror
	read := func() {
		var d delta
		if err := lines.Decode(&d); err != nil {
			fmt.Println(err)
		}
		client.apply(d)
	}
	read() // everything

	// The first player walks up to the second and shoots. Its order for tick 10 comes three
	// ticks late, and its order for tick 20 is lost.
	start := v.now
	act := func(tick, move int, fire bool) {
		body := bytes.NewReader(encode(order{players[0], start + tick, move, fire}))
		answer, err := http.Post(web.URL+"/act", "application/json", body)
		if err != nil || answer.StatusCode != http.StatusAccepted {
			fmt.Println(err)
			return
		}
		answer.Body.Close()
	}
	for tick := range 40 {
		switch tick {
		case 10, 20:
		case 13:
			act(10, 0, true)
		case 25:
			act(20, 0, true)
		default:
			act(tick, 1, tick%4 == 3)
		}
		if err := v.tick(ctx); err != nil {
			fmt.Println(err)
		}
		read()
		if err := client.differs(v); err != nil {
			fmt.Println(err)
		}
	}
	for _, h := range players {
		f := client.fighters[h]
		fmt.Printf("player %d at %d, %d deaths\n", f.Player, f.X, f.Deaths)
	}
	fmt.Println("lost:", v.lost)
	// Output:
	// playing: [2:0.1 2:1.1]
	// player 0 at 36, 0 deaths
	// player 1 at 10, 1 deaths
	// lost: 1
}
