//go:build js

// Program play runs in the browser: two swarms, one on one worker, the other on several
// with shuffled tasks. The page calls its functions, which are properties of the global
// object handloom.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"syscall/js"
	"time"

	"handloom/guide/internal/swarm"
	"handloom/internal/chart"
	"handloom/store"
)

type playground struct {
	plain, shuffled *swarm.History
	bytes           []byte // places, for the page
}

func main() {
	p := new(playground)
	js.Global().Set("handloom", map[string]any{
		"width":   swarm.Width,
		"height":  swarm.Height,
		"start":   call(p.start),
		"play":    call(p.play),
		"back":    call(p.back),
		"places":  call(p.places),
		"pick":    call(p.pick),
		"look":    call(p.look),
		"rows":    call(p.rows),
		"shuffle": call(p.shuffle),
		"graph":   call(p.graph),
		"took":    call(p.took),
	})
	select {}
}

// call exports a function to the page. An error is a property of the returned object.
func call(f func(ctx context.Context, args []js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		result, err := f(context.Background(), args)
		if err != nil {
			return map[string]any{"error": fmt.Sprint(err)}
		}
		return result
	})
}

// start creates both swarms with a number of motes.
func (p *playground) start(ctx context.Context, args []js.Value) (any, error) {
	n := args[0].Int()
	plain, err := swarm.NewHistory(ctx, n)
	if err != nil {
		return nil, err
	}
	shuffled, err := swarm.NewHistory(ctx, n)
	if err != nil {
		return nil, err
	}
	p.plain, p.shuffled = plain, shuffled
	return p.state(0, 0), p.shuffled.Store.Shuffle(1)
}

// play plays a tick of both swarms, with the given workers in the second. Acts are objects
// with the handle erase, or with x, y and kill.
func (p *playground) play(ctx context.Context, args []js.Value) (any, error) {
	var acts []swarm.Act
	for i := range args[1].Length() {
		a := args[1].Index(i)
		if erase := a.Get("erase"); erase.Truthy() {
			h, err := parse(erase)
			if err != nil {
				return nil, err
			}
			acts = append(acts, swarm.Act{Erase: h})
			continue
		}
		acts = append(acts, swarm.Act{X: a.Get("x").Int(), Y: a.Get("y").Int(), Kill: a.Get("kill").Truthy()})
	}
	one, err := p.plain.Play(ctx, 1, acts)
	if err != nil {
		return nil, err
	}
	many, err := p.shuffled.Play(ctx, args[0].Int(), acts)
	return p.state(one, many), err
}

// shuffle sets the seed of the task order of the second store.
func (p *playground) shuffle(_ context.Context, args []js.Value) (any, error) {
	return nil, p.shuffled.Store.Shuffle(uint64(args[0].Int()))
}

// back goes back to a tick.
func (p *playground) back(ctx context.Context, args []js.Value) (any, error) {
	if err := p.plain.Back(ctx, 1, args[0].Int()); err != nil {
		return nil, err
	}
	if err := p.shuffled.Back(ctx, args[1].Int(), args[0].Int()); err != nil {
		return nil, err
	}
	one, err := p.plain.Store.Digest(ctx)
	if err != nil {
		return nil, err
	}
	many, err := p.shuffled.Store.Digest(ctx)
	return p.state(one, many), err
}

func (p *playground) state(one, many uint64) map[string]any {
	return map[string]any{
		"tick": p.plain.Now, "first": p.plain.First(), "live": p.plain.Motes.Len(),
		"one": fmt.Sprintf("%016x", one), "many": fmt.Sprintf("%016x", many),
	}
}

// places writes x and y of all motes, 16 bits each, into an array of the page and returns
// the number of motes.
func (p *playground) places(_ context.Context, args []js.Value) (any, error) {
	p.bytes = p.bytes[:0]
	w := p.plain
	for h := range w.Motes.All() {
		place := w.Places.At(h)
		p.bytes = binary.LittleEndian.AppendUint16(p.bytes, uint16(place.X/swarm.Unit))
		p.bytes = binary.LittleEndian.AppendUint16(p.bytes, uint16(place.Y/swarm.Unit))
	}
	return js.CopyBytesToJS(args[0], p.bytes) / 4, nil
}

// pick returns the handle of the mote that is nearest to a pixel.
func (p *playground) pick(_ context.Context, args []js.Value) (any, error) {
	x, y := int32(args[0].Int()), int32(args[1].Int())
	var nearest store.Handle[swarm.Mote]
	best := int32(-1)
	for h := range p.plain.Motes.All() {
		place := p.plain.Places.At(h)
		dx, dy := place.X/swarm.Unit-x, place.Y/swarm.Unit-y
		if d := dx*dx + dy*dy; best < 0 || d < best {
			nearest, best = h, d
		}
	}
	return nearest.String(), nil
}

// look returns the state of a handle.
func (p *playground) look(_ context.Context, args []js.Value) (says any, err error) {
	h, err := parse(args[0])
	if err != nil {
		return nil, err
	}
	w := p.plain
	if w.Motes.Has(h) {
		place := w.Places.At(h)
		x, y := place.X/swarm.Unit, place.Y/swarm.Unit
		return map[string]any{
			"x": int(x), "y": int(y),
			"says": fmt.Sprintf("%v names a mote at %d, %d with %d ticks to live", h, x, y, *w.Lives.At(h)),
		}, nil
	}
	defer func() {
		says = map[string]any{"says": fmt.Sprint(recover())}
	}()
	w.Motes.At(h) // its panic describes the slot
	return nil, nil
}

// parse reads a handle that the page has as text.
func parse(text js.Value) (h store.Handle[swarm.Mote], err error) {
	return h, h.UnmarshalText([]byte(text.String()))
}

// rows returns the first rows of the table, cell by cell.
func (p *playground) rows(_ context.Context, args []js.Value) (any, error) {
	w := p.plain
	var all []any
	for h, m := range w.Motes.All() {
		if len(all) == args[0].Int() {
			break
		}
		place, course := w.Places.At(h), w.Courses.At(h)
		all = append(all, []any{
			fmt.Sprint(len(all)), h.String(), m.Square.String(),
			fmt.Sprintf("%d, %d", place.X/swarm.Unit, place.Y/swarm.Unit), fmt.Sprintf("%d, %d", course.X, course.Y), fmt.Sprint(*w.Lives.At(h)),
		})
	}
	return all, nil
}

// graph draws the schedule.
func (p *playground) graph(context.Context, []js.Value) (any, error) {
	frame := p.plain.Frame
	var systems []chart.System
	timings := frame.Timings()
	for i, y := range frame.Systems() {
		systems = append(systems, chart.System{
			Name: y.Name, Reads: names(y.Reads), Writes: names(y.Writes), Emits: names(y.Emits),
			Runs: timings[i].Runs, Took: timings[i].P50,
		})
	}
	return chart.Frame(frame.Explain(), systems), nil
}

func names(resources []store.Resource) (all []string) {
	for _, r := range resources {
		all = append(all, r.Name())
	}
	return all
}

// took returns the times of systems and flushes of the last tick, in microseconds, and
// the reports of the flushes.
func (p *playground) took(context.Context, []js.Value) (any, error) {
	systems := make(map[string]any)
	for _, t := range p.plain.Frame.Timings() {
		systems[t.System] = microseconds(t.Last)
	}
	var flushes []any
	for _, f := range p.plain.Flushes {
		flushes = append(flushes, map[string]any{"took": microseconds(f.Took), "says": f.Says})
	}
	return map[string]any{"systems": systems, "flushes": flushes}, nil
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
