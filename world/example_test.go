package world_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

type Ship struct{ X, DX int }

type fleet struct {
	*store.Store
	ships *store.Table[Ship]
}

func (f *fleet) tick(ctx context.Context, _ *store.Writer, _ world.Tick) error {
	if _, err := f.Flush(ctx); err != nil {
		return err
	}
	return f.ships.ForEach(ctx, func(c store.Chunk[Ship]) {
		for i := range c.Items {
			c.Items[i].X += c.Items[i].DX
		}
	})
}

// launch starts or continues the program.
func launch(ctx context.Context, dir string) (*fleet, *world.World, *journal.Journal) {
	s := store.New(store.Options{})
	ships := store.Register(s, store.TableOptions[Ship]{Name: "ship", Shards: 2})
	f := &fleet{s, ships}

	log, err := journal.Open(dir, journal.Options{})
	if err != nil {
		panic(err)
	}
	w, err := world.Open(ctx, s, log, world.Options{Version: "fleet 1", Hz: 60, Tick: f.tick})
	if err != nil {
		panic(err)
	}
	return f, w, log
}

// Every ship whose Submit returned survives a kill.
func Example() {
	ctx := context.Background()
	dir, _ := os.MkdirTemp("", "fleet")
	defer os.RemoveAll(dir)

	f, w, log := launch(ctx, dir)
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }() // 60 ticks per second

	var p store.Handle[Ship]
	launched, err := w.Submit(ctx, func(q store.Queue) error {
		p = f.ships.Emplace(q, Ship{DX: 2})
		return nil
	})
	argo, _ := store.Resolved(launched, p)
	fmt.Println("launched:", argo, err)

	_ = log.Close() // as good as a kill: the current tick has no log
	fmt.Println("stopped:", errors.Is(<-ended, journal.ErrBroken))

	f, w, log = launch(ctx, dir) // usually in another process
	_ = w.Read(ctx, func(_ context.Context, t world.Tick) error {
		ship, ok := f.ships.Get(argo)
		fmt.Println("still there:", ok, ship.X > 0, t.Number >= launched.Tick())
		return nil
	})
	fmt.Println(w.Close(ctx), log.Close())
	// Output:
	// launched: 1:0.1 <nil>
	// stopped: true
	// still there: true true true
	// <nil> <nil>
}
