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
	"handloom/view"
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
	sight = 20 // maximum distance of what a player sees
)

// server runs an arena for players who join and act over HTTP, and sends followers what changes
// in the sight of their player.
type server struct {
	*arena
	orders *store.Table[order]
	now    int // next tick; read and written inside phases
	lost   int // orders that came too late, too early, or twice

	submit func(ctx context.Context, f func(q store.Queue) error) (*store.Receipt, error) // waits for a tick
	send   func(ctx context.Context, f func(q store.Queue) error) error                   // does not wait

	players atomic.Int64

	seenFighters *view.View[fighter, fighter]
	seenBullets  *view.View[bullet, bullet]
	mutex        sync.Mutex
	followers    []*follower
}

// follower is a client that sees what its player sees.
type follower struct {
	player   store.Handle[fighter]
	fighters *view.Client[fighter, fighter]
	bullets  *view.Client[bullet, bullet]
	lines    chan []byte
}

func newServer(o store.Options) (*server, error) {
	s := store.New(o)
	v := new(server)
	v.orders = store.Register(s, store.TableOptions[order]{Name: "order"})
	v.submit = s.Submit
	v.send = func(_ context.Context, f func(q store.Queue) error) error { return s.Inbox(f) }
	var err error
	v.arena, err = newArena(s, 0)
	v.seenFighters, v.seenBullets = view.New(v.fighters, 32), view.New(v.bullets, 32)
	return v, err
}

// tick runs one tick as one Frame, so readers see whole ticks. Calls that arrive meanwhile wait
// for the next one.
func (v *server) tick(ctx context.Context) error {
	if _, err := v.Frame(ctx, v.step); err != nil {
		return err
	}
	return v.Read(ctx, v.publish)
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

// delta is a line of JSON: what changed in the sight of a player since the last line.
type delta struct {
	Tick     int
	Fighters changed[fighter]
	Bullets  changed[bullet]
}

// changed has the changes of one table.
type changed[T any] struct {
	Reset bool // the mirror is emptied first
	Now   []named[T]
	Gone  []store.Handle[T]
}

// named is an item and its handle.
type named[T any] struct {
	Handle store.Handle[T]
	Value  T
}

func changedIn[T any](d view.Delta[T, T]) changed[T] {
	c := changed[T]{Reset: d.Reset, Gone: slices.Collect(d.Left)}
	for _, items := range []iter.Seq2[store.Handle[T], *T]{d.Entered, d.Changed} {
		for h, v := range items {
			c.Now = append(c.Now, named[T]{h, *v})
		}
	}
	return c
}

// inSight returns the fighters and bullets that a player sees.
func (v *server) inSight(player store.Handle[fighter]) (iter.Seq[store.Handle[fighter]], iter.Seq[store.Handle[bullet]]) {
	eye, _ := v.fighters.Get(player)
	return near(v.fighters, eye, func(f *fighter) int { return f.X }), near(v.bullets, eye, func(b *bullet) int { return b.X })
}

func near[T any](t *store.Table[T], eye *fighter, x func(v *T) int) iter.Seq[store.Handle[T]] {
	return func(yield func(store.Handle[T]) bool) {
		for h, v := range t.All() {
			if eye != nil && max(x(v)-eye.X, eye.X-x(v)) <= sight && !yield(h) {
				return
			}
		}
	}
}

// follow sends everything in sight after the next tick, and then the changes.
func (v *server) follow(w http.ResponseWriter, r *http.Request) {
	id, err := store.ParseID(r.FormValue("player"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f := &follower{store.Handle[fighter]{ID: id}, v.seenFighters.Client(), v.seenBullets.Client(), make(chan []byte, 1)}
	v.mutex.Lock()
	v.followers = append(v.followers, f)
	v.mutex.Unlock()
	defer v.forget(f)
	for err == nil {
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			return
		case line := <-f.lines:
			_, err = w.Write(line)
		}
	}
}

// publish makes a line for each follower. A stream loses nothing, so what is in it counts as
// acknowledged. A tick never waits: if a follower is slow, its next line has these changes too.
func (v *server) publish(ctx context.Context) (err error) {
	v.seenFighters.Advance(ctx)
	v.seenBullets.Advance(ctx)
	v.mutex.Lock()
	defer v.mutex.Unlock()
	for _, f := range v.followers {
		fighters, bullets := v.inSight(f.player)
		df, db := f.fighters.Update(ctx, fighters), f.bullets.Update(ctx, bullets)
		select {
		case f.lines <- encode(delta{v.now, changedIn(df), changedIn(db)}):
			err = errors.Join(err, f.fighters.Acknowledge(df.Number), f.bullets.Acknowledge(db.Number))
		default:
		}
	}
	return err
}

func (v *server) forget(f *follower) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.followers = slices.DeleteFunc(v.followers, func(other *follower) bool { return other == f })
}

// encode returns a line of JSON.
func encode(v any) []byte {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err) // these types always encode
	}
	return append(line, '\n')
}

// mirror is a client's copy of what it sees.
type mirror struct {
	fighters map[store.Handle[fighter]]fighter
	bullets  map[store.Handle[bullet]]bullet
}

// apply applies a line.
func (m *mirror) apply(d delta) {
	m.fighters = d.Fighters.applyTo(m.fighters)
	m.bullets = d.Bullets.applyTo(m.bullets)
}

func (c changed[T]) applyTo(items map[store.Handle[T]]T) map[store.Handle[T]]T {
	if items == nil || c.Reset {
		items = make(map[store.Handle[T]]T)
	}
	for _, n := range c.Now {
		items[n.Handle] = n.Value
	}
	for _, h := range c.Gone {
		delete(items, h)
	}
	return items
}

// differs returns the first difference between the mirror and what a player sees.
func (m *mirror) differs(v *server, player store.Handle[fighter]) error {
	fighters, bullets := v.inSight(player)
	return errors.Join(differs(v.fighters, fighters, m.fighters), differs(v.bullets, bullets, m.bullets))
}

func differs[T comparable](t *store.Table[T], sees iter.Seq[store.Handle[T]], items map[store.Handle[T]]T) error {
	n := 0
	for h := range sees {
		n++
		if got, ok := items[h]; !ok || got != *t.At(h) {
			return fmt.Errorf("%s %v is %+v, and the client has %+v, %t", t.Name(), h, *t.At(h), got, ok)
		}
	}
	if len(items) != n {
		return fmt.Errorf("the client has %d items of %d: %s", len(items), n, t.Name())
	}
	return nil
}

// A game server over HTTP: players join and act while ticks run. Each tick is one Frame and one
// frame. Damage is items. Late orders run late or are lost. A client receives what entered the
// sight of its player, changed, or left it.
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

	// A client follows the first player.
	answer, err := http.Get(web.URL + "/follow?player=" + players[0].String())
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
		if err := client.differs(v, players[0]); err != nil {
			fmt.Println(err)
		}
	}
	for _, h := range players {
		f := v.fighters.At(h)
		fmt.Printf("player %d at %d, %d deaths\n", f.Player, f.X, f.Deaths)
	}
	fmt.Println("in sight:", len(client.fighters), "fighter")
	fmt.Println("lost:", v.lost)
	// Output:
	// playing: [2:0.1 2:1.1]
	// player 0 at 36, 0 deaths
	// player 1 at 10, 1 deaths
	// in sight: 1 fighter
	// lost: 1
}
