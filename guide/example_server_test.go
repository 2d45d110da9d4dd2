package main_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"handloom/store"
	"handloom/tasks"
)

// region player

type Player struct {
	Name string
	X    int
}

// endregion

// region game

// Input is the movement of a player in the next tick.
type Input struct{ Move int }

type game struct {
	*store.Store
	players *store.Table[Player]
	names   *store.Index[string, Player]
	inputs  *store.Column[Player, Input]
	systems *store.Schedule
}

func newGame() *game {
	g := &game{Store: store.New(store.Options{})}
	g.players = store.Register(g.Store, store.TableOptions[Player]{Name: "player"})
	g.names = store.AddIndex(g.players, "name", func(p *Player) (string, bool) { return p.Name, p.Name != "" })
	g.inputs = store.AddColumn(g.players, store.ColumnOptions[Input]{Name: "input"})
	g.systems = store.NewSchedule(
		g.Store,
		store.System{Name: "move", Writes: []store.Resource{g.players, g.inputs}, Run: g.move},
	)
	return g
}

// endregion

// region tick

// tick is one Frame: readers see whole ticks.
func (g *game) tick(ctx context.Context, _ uint64) error {
	_, err := g.Frame(ctx, func(ctx context.Context, _ *store.Writer) error {
		if _, err := g.Flush(ctx); err != nil { // the inbox
			return err
		}
		_, err := g.systems.Run(ctx)
		return err // here the lists of changes are complete
	})
	return err
}

func (g *game) move(ctx context.Context) error {
	return g.players.ForEach(ctx, func(c store.Chunk[Player]) {
		inputs := g.inputs.Write(c)
		for i := range c.Items {
			c.Items[i].X += inputs[i].Move
			inputs[i] = Input{} // applies once
		}
	})
}

// endregion

// region join

// join answers after the tick that created the player.
func (g *game) join(r *http.Request) (answer any, err error) {
	var name store.Handle[Player]
	receipt, err := g.Submit(r.Context(), func(q store.Queue) error {
		name = g.players.Emplace(q, Player{Name: r.FormValue("name")})
		return nil
	})
	if err != nil {
		return nil, err
	}
	h, _ := store.Resolved(receipt, name)
	return h, nil
}

// endregion

// region leave

// leave does not wait. Leaving twice is harmless.
func (g *game) leave(r *http.Request) (answer any, err error) {
	h, err := g.player(r)
	if err != nil {
		return nil, err
	}
	return "", g.Inbox(func(q store.Queue) error {
		g.players.Erase(q, h)
		return nil
	})
}

var errRequest = errors.New("want a player's handle, and a number to move")

// player returns the player that a request names.
func (g *game) player(r *http.Request) (h store.Handle[Player], err error) {
	id, err := store.ParseID(r.FormValue("player"))
	h, ok := g.players.Handle(id)
	if err != nil || !ok {
		return h, errRequest
	}
	return h, nil
}

// endregion

// region act

// act sets the input of a player for the next tick.
func (g *game) act(r *http.Request) (answer any, err error) {
	h, err := g.player(r)
	move, wrong := strconv.Atoi(r.FormValue("move"))
	if err != nil || wrong != nil {
		return nil, errRequest
	}
	return "", g.Inbox(func(q store.Queue) error {
		g.inputs.Set(q, h, Input{Move: move})
		return nil
	})
}

// endregion

// region show

// show reads between two ticks.
func (g *game) show(r *http.Request) (answer any, err error) {
	var text strings.Builder
	err = g.Read(r.Context(), func(context.Context) error {
		for h, p := range g.players.All() {
			fmt.Fprintln(&text, h, p.Name, "at", p.X)
		}
		return nil
	})
	return &text, err
}

// endregion

// region find

// find answers with the handle of the player with that name, or the null handle.
func (g *game) find(r *http.Request) (answer any, err error) {
	err = g.Read(r.Context(), func(context.Context) error {
		answer, _ = g.names.Find(r.FormValue("name"))
		return nil
	})
	return answer, err
}

// endregion

// region handler

type handler func(r *http.Request) (answer any, err error)

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := h(r)
	switch {
	case err == nil:
		fmt.Fprint(w, answer)
	case errors.Is(err, errRequest):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case errors.Is(err, store.ErrDuplicate):
		http.Error(w, "that name is taken", http.StatusConflict)
	default:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

func (g *game) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /join", handler(g.join))
	mux.Handle("POST /leave", handler(g.leave))
	mux.Handle("POST /act", handler(g.act))
	mux.Handle("GET /find", handler(g.find))
	mux.Handle("GET /{$}", handler(g.show))
	return mux
}

// endregion

// A server: players join and leave over HTTP while ticks run.
func Example_server() {
	g := newGame()
	web := httptest.NewServer(g.handler())
	defer web.Close()

	// region loop
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		clock := tasks.Loop{Hz: 60}
		done <- clock.Run(ctx, g.tick)
	}()
	// endregion
	ask := func(answer *http.Response, err error) string {
		if err != nil {
			return err.Error()
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return fmt.Sprint(string(text), " ", answer.StatusCode, " ", err)
	}
	fmt.Println(ask(http.Post(web.URL+"/join?name=Ada", "", nil)))
	fmt.Println(ask(http.Post(web.URL+"/join?name=Bob", "", nil)))
	fmt.Println(ask(http.Post(web.URL+"/join?name=Bob", "", nil)))
	fmt.Println(ask(http.Get(web.URL + "/find?name=Bob")))
	fmt.Println(ask(http.Post(web.URL+"/leave?player=1:0.1", "", nil)))
	fmt.Println(ask(http.Post(web.URL+"/leave?player=7:0.1", "", nil)))
	fmt.Println(ask(http.Post(web.URL+"/act?player=1:1.1&move=5", "", nil)))
	fmt.Println(ask(http.Post(web.URL+"/join?name=Eve", "", nil))) // its tick has applied all earlier calls, too
	fmt.Println(ask(http.Get(web.URL + "/")))
	stop()
	fmt.Println(errors.Is(<-done, context.Canceled))
	fmt.Println(g.players.Len(), "players")
	// Output:
	// 1:0.1 200 <nil>
	// 1:1.1 200 <nil>
	// that name is taken
	//  409 <nil>
	// 1:1.1 200 <nil>
	//  200 <nil>
	// want a player's handle, and a number to move
	//  400 <nil>
	//  200 <nil>
	// 1:0.2 200 <nil>
	// 1:1.1 Bob at 5
	// 1:0.2 Eve at 0
	//  200 <nil>
	// true
	// 2 players
}
