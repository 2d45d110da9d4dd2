// Command ebiten shows a store under Ebitengine, which owns the loop. It is a module of its
// own, so that users of Handloom do not depend on an engine.
package main

import (
	"context"
	"log"
	"math"

	"github.com/hajimehoshi/ebiten/v2"

	"handloom/store"
)

const width, height = 640, 360

// Spark flies until its life is over.
type Spark struct {
	X, Y, VX, VY float32
	Life         int32 // ticks
}

type game struct {
	ctx    context.Context // of the team
	store  *store.Store
	sparks *store.Table[Spark]
	tick   *store.Schedule
	pixels []byte
}

func newGame() *game {
	s := store.New(store.Options{Seed: 1})
	g := &game{store: s, pixels: make([]byte, 4*width*height)}
	g.sparks = store.Register(s, store.TableOptions[Spark]{Name: "spark", Shards: 4})
	type on = []store.Resource
	g.tick = store.NewSchedule(
		s,
		store.System{Name: "fly", Writes: on{g.sparks}, Emits: on{g.sparks}, Run: g.fly},
		store.System{Name: "light", Emits: on{g.sparks}, Run: g.light},
	)
	return g
}

// fly moves all sparks, in parallel.
func (g *game) fly(ctx context.Context) error {
	return g.sparks.ForEach(ctx, func(c store.Chunk[Spark]) {
		for i := range c.Items {
			p := &c.Items[i]
			p.X, p.Y, p.VY = p.X+p.VX, p.Y+p.VY, p.VY+0.02
			if p.Life--; p.Life == 0 {
				c.Erase(i)
			}
		}
	})
}

// light records new sparks in the middle of the window.
func (g *game) light(ctx context.Context) error {
	return g.store.Do(ctx, func(q store.Queue) {
		r := q.Rand()
		for range 200 {
			speed, turn := r.Float64()*2, r.Float64()*2*math.Pi
			g.sparks.Emplace(q, spark(width/2, height/2, speed, turn))
		}
	})
}

func spark(x, y int, speed, turn float64) Spark {
	return Spark{X: float32(x), Y: float32(y), VX: float32(speed * math.Cos(turn)), VY: float32(speed * math.Sin(turn)), Life: 150}
}

// Update runs a tick. Ebitengine calls it 60 times a second.
func (g *game) Update() error {
	if ebiten.IsMouseButtonPressed(ebiten.MouseButtonLeft) {
		x, y := ebiten.CursorPosition()
		err := g.store.Inbox(func(q store.Queue) error { // input: the tick applies it
			for i := range 100 {
				g.sparks.Emplace(q, spark(x, y, 3, float64(i)))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	_, err := g.tick.Run(g.ctx)
	return err
}

// Draw shows the state after the last tick. Ebitengine never calls it during an Update.
func (g *game) Draw(screen *ebiten.Image) {
	clear(g.pixels)
	for _, p := range g.sparks.All() {
		if x, y := int(p.X), int(p.Y); x >= 0 && x < width && y >= 0 && y < height {
			copy(g.pixels[4*(y*width+x):], []byte{255, byte(100 + p.Life), byte(p.Life / 2), 255})
		}
	}
	screen.WritePixels(g.pixels)
}

// Layout returns the size of the picture, which Ebitengine scales to the window.
func (g *game) Layout(int, int) (int, int) { return width, height }

func main() {
	g := newGame()
	ebiten.SetWindowTitle("Sparks")
	ebiten.SetWindowSize(2*width, 2*height)
	err := g.store.Team(context.Background(), func(ctx context.Context) error { // workers stay warm
		g.ctx = ctx
		return ebiten.RunGame(g) // returns when the window is closed
	})
	if err != nil {
		log.Fatal(err)
	}
}
