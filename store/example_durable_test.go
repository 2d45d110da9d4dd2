package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// newDurableServer returns the server of the example ArenaServer with a durable arena.
// The changes:
//
//	in memory                            durable
//	v, err := newServer(o)               v, err := newServer(o)
//	                                     w, err := world.Open(ctx, v.Store, log, world.Options{Tick: ..., Applied: ...})
//	s.Submit(ctx, f)                     w.Submit(ctx, f)
//	s.Inbox(f)                           w.Submit(ctx, f)
//	for { v.tick(...) }                  w.Run(ctx)
//
// A tick must be a function of the arena and its input: the state in Go variables moves
// to the tick or to a table. With Idle 1 each tick is in the log before followers get it,
// so none runs again after a kill.
func newDurableServer(ctx context.Context, log world.Log) (*server, *world.World, error) {
	v, err := newServer(store.Options{})
	if err != nil {
		return nil, nil, err
	}
	var w *world.World
	w, err = world.Open(ctx, v.Store, log, world.Options{
		Version: "arena 1", Hz: 60, Idle: 1,
		Tick: func(ctx context.Context, writer *store.Writer, t world.Tick) error {
			v.now = int(t.Number)
			return v.step(ctx, writer)
		},
		Applied: func(ctx context.Context, o world.Outcome) {
			if !o.Replay {
				_ = v.Read(ctx, v.publish)
			}
		},
	})
	if err != nil {
		return nil, nil, err
	}
	v.submit = w.Submit
	v.send = func(ctx context.Context, f func(q store.Queue) error) error {
		_, err := w.Submit(ctx, f)
		return err
	}
	v.now = int(w.Status().Tick) + 1
	for _, f := range v.fighters.All() {
		v.players.Store(max(v.players.Load(), int64(f.Player)+1))
	}
	return v, w, nil
}

// ask sends a request, runs ticks until the answer comes, and decodes it into into, unless that
// is nil.
func ask(ctx context.Context, w *world.World, url string, body, into any) error {
	answered := make(chan error)
	go func() {
		answer, err := http.Post(url, "application/json", bytes.NewReader(encode(body)))
		if err == nil {
			defer answer.Body.Close()
			if into != nil {
				err = json.NewDecoder(answer.Body).Decode(into)
			}
		}
		answered <- err
	}()
	for {
		select {
		case err := <-answered:
			return err
		default:
			if _, err := w.Step(ctx); err != nil {
				return err
			}
		}
	}
}

// The server of the example ArenaServer on a journal. A copy of its folder, as a kill leaves
// it, continues with the same arena, the same tick, and every order that was answered.
func Example_durableArena() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "arena")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	open := func(name string) (*server, *world.World, *journal.Journal) {
		log, err := journal.Open(filepath.Join(dir, name), journal.Options{SegmentBytes: 1 << 16})
		if err != nil {
			panic(err)
		}
		v, w, err := newDurableServer(ctx, log)
		if err != nil {
			panic(err)
		}
		return v, w, log
	}
	v, w, log := open("arena")
	web := httptest.NewServer(v.handler())

	// Two players join, and the first walks up to the second and shoots.
	var players [2]store.Handle[fighter]
	for i := range players {
		if err := ask(ctx, w, web.URL+"/join", nil, &players[i]); err != nil {
			fmt.Println(err)
		}
	}
	for tick := range 20 {
		o := order{By: players[0], Tick: v.now, Move: 1, Fire: tick%4 == 3}
		if err := ask(ctx, w, web.URL+"/act", o, nil); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println("playing:", players)

	// The machine stops here. Another machine continues.
	_ = os.CopyFS(filepath.Join(dir, "copy"), os.DirFS(filepath.Join(dir, "arena")))
	next, u, other := open("copy")
	before, _ := v.Digest(ctx)
	after, _ := next.Digest(ctx)
	fmt.Println("the same arena:", before == after, "and tick:", w.Status().Tick == u.Status().Tick)
	f, ok := next.fighters.Get(players[0])
	fmt.Println("player 0 plays:", ok, "and has moved:", f.X > 0, "players so far:", next.players.Load())

	web.Close()
	fmt.Println(w.Close(ctx), u.Close(ctx), log.Close(), other.Close())
	// Output:
	// playing: [2:0.1 2:1.1]
	// the same arena: true and tick: true
	// player 0 plays: true and has moved: true players so far: 2
	// <nil> <nil> <nil> <nil>
}
