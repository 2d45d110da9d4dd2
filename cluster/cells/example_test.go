package cells_test

import (
	"context"
	"fmt"

	"handloom/cluster/cells"
	"handloom/store"
	"handloom/world"
)

// region land
// A Player walks east. Names are unique forever, handles only in one cell.
type Player struct {
	Name  [8]byte
	X, DX int
}

// border is the border between both cells.
const border = 100

// A land is the program of both cells.
type land struct {
	*store.Store
	players *store.Table[Player]
	moves   *cells.Outbox[Player]       // arriving players
	names   *Directory[[8]byte, Player] // from example_directory_test.go
	east    cells.ID                    // or 0
}

// endregion

// found creates a land and its world.
func found(ctx context.Context, self, east cells.ID, players ...Player) (*land, *world.World) {
	// region found
	s := store.New(store.Options{})
	l := &land{Store: s, east: east}
	l.players = store.Register(s, store.TableOptions[Player]{})
	moves, err := cells.New(s, cells.Options[Player]{})
	if err != nil {
		panic(err)
	}
	l.moves = moves
	l.names = NewDirectory(s, l.players, func(p *Player) [8]byte { return p.Name })
	w, err := world.Open(ctx, s, world.Memory(), world.Options{
		Version: "land", Hz: 60,
		Init: func(_ context.Context, w *store.Writer) error {
			for _, p := range players {
				l.players.Insert(w, p)
			}
			return l.moves.Init(w, self)
		},
		Tick: l.moves.Tick(l.names.Tick(l.tick)),
	})
	// endregion
	if err != nil {
		panic(err)
	}
	return l, w
}

// region tick
// tick adds arrived players, moves all, and sends some across the border.
func (l *land) tick(ctx context.Context, w *store.Writer, t world.Tick) error {
	err := l.Do(ctx, func(q store.Queue) {
		for _, p := range l.moves.Received() {
			l.players.Emplace(q, *p)
		}
	})
	if err != nil {
		return err
	}
	err = l.players.ForEach(ctx, func(c store.Chunk[Player]) {
		for i := range c.Items {
			p := &c.Items[i]
			p.X += p.DX
			if l.east != 0 && p.X >= border {
				c.Erase(i)
				l.moves.Send(c.Queue, l.east, *p)
			}
		}
	})
	if err != nil {
		return err
	}
	for _, p := range l.players.All() {
		if l.east != 0 && p.X >= border {
			if err := l.names.Forward(w, p.Name, l.east, t.Number+600); err != nil {
				return err
			}
		}
	}
	return nil
}

// endregion

// A player crosses the border between two cells.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	west, east := cells.NewID(), cells.NewID()
	ada := [8]byte{'a', 'd', 'a'}
	from, fromWorld := found(ctx, west, east, Player{Name: ada, X: 90, DX: 4})
	to, toWorld := found(ctx, east, 0)

	// Within one process. Between machines use the Transport of a cluster.Log.
	// region run
	by := cells.Local()
	ended := make(chan error, 4)
	go func() { ended <- fromWorld.Run(ctx) }()
	go func() { ended <- toWorld.Run(ctx) }()
	go func() { ended <- from.moves.Run(ctx, fromWorld, by) }()
	go func() { ended <- to.moves.Run(ctx, toWorld, by) }()
	// endregion

	arrived := false
	for !arrived {
		_ = toWorld.Read(ctx, func(context.Context, world.Tick) error {
			_, arrived = to.names.Find(ada)
			return nil
		})
	}
	_ = toWorld.Read(ctx, func(context.Context, world.Tick) error {
		h, _ := to.names.Find(ada)
		fmt.Println("east:", to.players.Len(), "player, across the border:", to.players.At(h).X >= border)
		return nil
	})
	_ = fromWorld.Read(ctx, func(context.Context, world.Tick) error {
		_, here := from.names.Find(ada)
		cell, moved := from.names.Moved(ada)
		fmt.Println("west:", from.players.Len(), "players; ada is here:", here, "and in the east:", moved && cell == east)
		return nil
	})
	stop()
	for range cap(ended) {
		<-ended
	}
	// Output:
	// east: 1 player, across the border: true
	// west: 0 players; ada is here: false and in the east: true
}
