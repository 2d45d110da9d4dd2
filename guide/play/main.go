//go:build js

// Program play is the part of the playground that runs in the browser: two swarms
// beside each other, one on one worker, the other on several whose tasks are shuffled.
// The page calls its functions, which are properties of the global object handloom.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"syscall/js"

	"handloom/guide/internal/swarm"
	"handloom/store"
)

type playground struct {
	plain, shuffled *swarm.History
	bytes           []byte // places, for the page
}

func main() {
	p := new(playground)
	js.Global().Set("handloom", map[string]any{
		"width":  swarm.Width,
		"height": swarm.Height,
		"start":  call(p.start),
		"play":   call(p.play),
		"back":   call(p.back),
		"places": call(p.places),
		"pick":   call(p.pick),
		"look":   call(p.look),
		"rows":   call(p.rows),
		"says":   call(p.says),
	})
	select {}
}

// call makes a function for the page. An error is a property of what it returns.
func call(f func(ctx context.Context, args []js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		result, err := f(context.Background(), args)
		if err != nil {
			return map[string]any{"error": fmt.Sprint(err)}
		}
		return result
	})
}

// start begins with a number of motes.
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

// play plays a tick of both, on that many workers in the second, with what a person
// did: x, y and whether to kill, for each act.
func (p *playground) play(ctx context.Context, args []js.Value) (any, error) {
	var acts []swarm.Act
	for i := 0; i+2 < args[1].Length(); i += 3 {
		acts = append(acts, swarm.Act{X: args[1].Index(i).Int(), Y: args[1].Index(i + 1).Int(), Kill: args[1].Index(i+2).Int() != 0})
	}
	one, err := p.plain.Play(ctx, 1, acts)
	if err != nil {
		return nil, err
	}
	many, err := p.shuffled.Play(ctx, args[0].Int(), acts)
	return p.state(one, many), err
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

// places writes the pixels of all motes into an array of the page, x and y of 16 bits,
// and returns how many there are.
func (p *playground) places(_ context.Context, args []js.Value) (any, error) {
	p.bytes = p.bytes[:0]
	for _, m := range p.plain.Motes.All() {
		p.bytes = binary.LittleEndian.AppendUint16(p.bytes, uint16(m.X/swarm.Unit))
		p.bytes = binary.LittleEndian.AppendUint16(p.bytes, uint16(m.Y/swarm.Unit))
	}
	return js.CopyBytesToJS(args[0], p.bytes) / 4, nil
}

// pick returns the handle of the mote that is nearest to a pixel.
func (p *playground) pick(_ context.Context, args []js.Value) (any, error) {
	x, y := int32(args[0].Int()), int32(args[1].Int())
	var nearest store.Handle[swarm.Mote]
	best := int32(-1)
	for h, m := range p.plain.Motes.All() {
		dx, dy := m.X/swarm.Unit-x, m.Y/swarm.Unit-y
		if d := dx*dx + dy*dy; best < 0 || d < best {
			nearest, best = h, d
		}
	}
	return nearest.String(), nil
}

// look says what a handle names now.
func (p *playground) look(_ context.Context, args []js.Value) (says any, err error) {
	var h store.Handle[swarm.Mote]
	if err := h.UnmarshalText([]byte(args[0].String())); err != nil {
		return nil, err
	}
	m, ok := p.plain.Motes.Get(h)
	if ok {
		return map[string]any{
			"x": int(m.X / swarm.Unit), "y": int(m.Y / swarm.Unit),
			"says": fmt.Sprintf("%v names a mote at %d, %d with %d ticks to live", h, m.X/swarm.Unit, m.Y/swarm.Unit, m.Life),
		}, nil
	}
	defer func() {
		says = map[string]any{"says": fmt.Sprint(recover())}
	}()
	p.plain.Motes.At(h) // its panic says what the slot holds
	return nil, nil
}

// rows returns the first rows of the table as text.
func (p *playground) rows(_ context.Context, args []js.Value) (any, error) {
	var b strings.Builder
	n := 0
	for h, m := range p.plain.Motes.All() {
		if n++; n > args[0].Int() {
			break
		}
		fmt.Fprintf(&b, "row %d  %-11v  at %3d, %3d  life %3d\n", n-1, h, m.X/swarm.Unit, m.Y/swarm.Unit, m.Life)
	}
	return b.String(), nil
}

// says returns what the schedule is, and how long its systems took.
func (p *playground) says(context.Context, []js.Value) (any, error) {
	return map[string]any{
		"explain": p.plain.Frame.Explain(),
		"timings": p.plain.Frame.Timings().String(),
		"report":  p.plain.Store.Flushed().String(),
	}, nil
}
