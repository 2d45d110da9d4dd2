package main_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"

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
}

func newGame() *game {
	s := store.New(store.Options{})
	players := store.Register(s, store.TableOptions[Player]{Name: "player"})
	names := store.AddIndex(players, "name", func(p *Player) (string, bool) { return p.Name, p.Name != "" })
	inputs := store.AddColumn(players, store.ColumnOptions[Input]{Name: "input"})
	return &game{s, players, names, inputs}
}

// endregion

// region tick

// tick is one Frame: readers see whole ticks. Its first flush applies the inbox.
func (g *game) tick(ctx context.Context, _ uint64) error {
	_, err := g.Frame(ctx, func(ctx context.Context, _ *store.Writer) error {
		if _, err := g.Flush(ctx); err != nil {
			return err
		}
		return g.players.ForEach(ctx, func(c store.Chunk[Player]) {
			inputs := g.inputs.Write(c)
			for i := range c.Items {
				c.Items[i].X += inputs[i].Move
				inputs[i] = Input{} // applies once
			}
		})
	})
	return err
}

// endregion

// region join

// join answers after the tick that created the player.
func (g *game) join(w http.ResponseWriter, r *http.Request) {
	var name store.Handle[Player]
	receipt, err := g.Submit(r.Context(), func(q store.Queue) error {
		name = g.players.Emplace(q, Player{Name: r.FormValue("name")})
		return nil
	})
	if errors.Is(err, store.ErrDuplicate) {
		http.Error(w, "that name is taken", http.StatusConflict)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	h, _ := store.Resolved(receipt, name)
	fmt.Fprint(w, h)
}

// endregion

// region leave

// leave does not wait. Leaving twice is harmless.
func (g *game) leave(w http.ResponseWriter, r *http.Request) {
	id, err := store.ParseID(r.FormValue("player"))
	h, ok := g.players.Handle(id)
	if err != nil || !ok {
		http.Error(w, "not a player's handle", http.StatusBadRequest)
		return
	}
	err = g.Inbox(func(q store.Queue) error {
		g.players.Erase(q, h)
		return nil
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

// endregion

// region act

// act sets the input of a player for the next tick.
func (g *game) act(w http.ResponseWriter, r *http.Request) {
	id, err := store.ParseID(r.FormValue("player"))
	h, ok := g.players.Handle(id)
	move, wrong := strconv.Atoi(r.FormValue("move"))
	if err != nil || !ok || wrong != nil {
		http.Error(w, "want a player and a move", http.StatusBadRequest)
		return
	}
	err = g.Inbox(func(q store.Queue) error {
		g.inputs.Set(q, h, Input{Move: move})
		return nil
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

// endregion

// region show

// show reads between two ticks.
func (g *game) show(w http.ResponseWriter, r *http.Request) {
	err := g.Read(r.Context(), func(context.Context) error {
		for h, p := range g.players.All() {
			fmt.Fprintln(w, h, p.Name, "at", p.X)
		}
		return nil
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

// endregion

// region find

// find answers with the handle of the player with that name.
func (g *game) find(w http.ResponseWriter, r *http.Request) {
	err := g.Read(r.Context(), func(context.Context) error {
		if h, ok := g.names.Find(r.FormValue("name")); ok {
			fmt.Fprint(w, h)
		} else {
			http.Error(w, "nobody has that name", http.StatusNotFound)
		}
		return nil
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

// endregion

// region handler

func (g *game) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /join", g.join)
	mux.HandleFunc("POST /leave", g.leave)
	mux.HandleFunc("POST /act", g.act)
	mux.HandleFunc("GET /find", g.find)
	mux.HandleFunc("GET /{$}", g.show)
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
	// not a player's handle
	//  400 <nil>
	//  200 <nil>
	// 1:0.2 200 <nil>
	// 1:1.1 Bob at 5
	// 1:0.2 Eve at 0
	//  200 <nil>
	// true
	// 2 players
}
