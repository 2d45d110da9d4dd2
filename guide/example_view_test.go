package main_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"

	"handloom/store"
	"handloom/tasks"
	"handloom/view"
)

// Soldier is a player's piece. Field is the square of the map on which it stands.
type Soldier struct {
	Place [2]int
	Field store.Handle[Field]
}

// region field

// Field is a square of the map, as wide as a player sees. Near has it and those around it.
type Field struct{ Near [9]store.Handle[Field] }

// endregion

// player is what the server knows of a client.
type player struct {
	soldier store.Handle[Soldier]
	field   store.Handle[Field] // the soldier's, or its last one
	client  *view.Client[Soldier, Soldier]
	wire    wire   // to its client
	screen  screen // there
}

type match struct {
	*store.Store
	soldiers *store.Table[Soldier]
	fields   *store.Table[Field]
	at       [side][side]store.Handle[Field]
	near     store.Groups[Soldier, Field]
	seen     *view.View[Soldier, Soldier]
	names    *store.Column[Soldier, string]
	named    *view.View[Soldier, string]
	players  []*player
}

const width, side = 100, 4 // of a field, and of the map in fields

func newMatch() *match {
	m := &match{Store: store.New(store.Options{})}
	// region new
	m.soldiers = store.Register(m.Store, store.TableOptions[Soldier]{Name: "soldier", Changes: true})
	m.fields = store.Register(m.Store, store.TableOptions[Field]{Name: "field"})
	// endregion
	// region view
	m.seen = view.New(m.soldiers, 32) // a client may be 32 messages late
	// endregion
	m.names = store.AddColumn(m.soldiers, store.ColumnOptions[string]{Name: "name", Changes: true})
	// region names
	m.named = view.Of(m.soldiers, m.names, 32)
	// endregion
	return m
}

// region near

// visible yields the soldiers on the fields around a player.
func (m *match) visible(p *player) iter.Seq[store.Handle[Soldier]] {
	return func(yield func(store.Handle[Soldier]) bool) {
		for _, field := range m.fields.At(p.field).Near {
			for h := range m.near.Of(field).All() {
				if !yield(h) {
					return
				}
			}
		}
	}
}

// endregion

// region see

// see tells each player what changed around it. It runs after each frame.
func (m *match) see(ctx context.Context) error {
	if err := store.GroupBy(ctx, &m.near, m.soldiers, m.fields, fieldOf); err != nil {
		return err
	}
	return m.Read(ctx, func(ctx context.Context) error {
		m.seen.Advance(ctx)
		return tasks.Run(ctx, len(m.players), func(i int) error {
			p := m.players[i]
			return p.wire.send(messageOf(p.client.Update(ctx, m.visible(p))))
		}, tasks.Options{})
	})
}

// endregion

func fieldOf(s *Soldier) store.Handle[Field] { return s.Field }

// region message

// message is what a client gets: everything that it may see, or the difference to what it has.
type message struct {
	Number uint64
	Reset  bool
	Now    map[store.ID]Soldier
	Gone   []store.ID
}

func messageOf(d view.Delta[Soldier, Soldier]) message {
	out := message{Number: d.Number, Reset: d.Reset, Now: map[store.ID]Soldier{}}
	for h, s := range d.Entered {
		out.Now[h.ID] = *s
	}
	for h, s := range d.Changed {
		out.Now[h.ID] = *s
	}
	for h := range d.Left {
		out.Gone = append(out.Gone, h.ID)
	}
	return out
}

// endregion

// region screen

// screen is a client's copy.
type screen struct {
	number uint64
	shows  map[store.ID]Soldier
}

// take returns the number that the client acknowledges.
func (c *screen) take(in message) uint64 {
	if in.Number <= c.number {
		return in.Number // repeated, or overtaken by a newer one
	}
	c.number = in.Number
	if in.Reset {
		clear(c.shows)
	}
	maps.Copy(c.shows, in.Now)
	for _, id := range in.Gone {
		delete(c.shows, id)
	}
	return in.Number
}

// endregion

// wire loses, delays and repeats messages.
type wire struct {
	random *rand.Rand
	way    []message
	lost   int
}

func (w *wire) send(m message) error {
	if w.random.IntN(5) == 0 {
		w.lost++
		return nil
	}
	w.way = append(w.way, m)
	return nil
}

// arrive yields messages that have arrived, sometimes late, twice, or in another order.
func (w *wire) arrive() (in []message) {
	w.random.Shuffle(len(w.way), func(i, j int) { w.way[i], w.way[j] = w.way[j], w.way[i] })
	for _, m := range w.way {
		if w.random.IntN(3) > 0 {
			in = append(in, m)
		}
	}
	if w.random.IntN(4) > 0 {
		w.way = nil
	}
	return in
}

// tick moves some soldiers and kills a few; the player of a dead one gets another.
func (m *match) tick(ctx context.Context, frame int) error {
	_, err := m.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
		err := m.soldiers.ForEach(ctx, func(c store.Chunk[Soldier]) {
			for i := range c.Items {
				s, turn := &c.Items[i], frame+int(c.Handle(i).ID.Slot())
				if turn%3 == 0 { // the others stand
					s.Place[frame/40%2] += 7
					s.Field = m.fieldAt(s.Place)
					c.Wrote(i)
				}
				if turn%97 == 0 {
					c.Erase(i)
				}
			}
		})
		if err != nil {
			return err
		}
		if _, err := m.Flush(ctx); err != nil {
			return err
		}
		for i, p := range m.players {
			if !m.soldiers.Has(p.soldier) {
				p.soldier = m.enlist(w, i)
			}
			p.field = m.soldiers.At(p.soldier).Field
		}
		return nil
	})
	return err
}

func (m *match) fieldAt(place [2]int) store.Handle[Field] {
	return m.at[place[0]/width%side][place[1]/width%side]
}

func (m *match) enlist(w *store.Writer, player int) store.Handle[Soldier] {
	place := [2]int{player * 37, player * 53}
	return m.soldiers.Insert(w, Soldier{Place: place, Field: m.fieldAt(place)})
}

// A shooter for twelve players who see the nine fields around them, on a network that loses a fifth of
// the messages.
func Example_whatClientsSee() {
	ctx, m := context.Background(), newMatch()
	err := m.Write(ctx, func(w *store.Writer) {
		for column := range side {
			for row := range side {
				m.at[column][row] = m.fields.Insert(w, Field{})
			}
		}
		for column := range side {
			for row := range side {
				near := &m.fields.At(m.at[column][row]).Near
				for i := range near {
					if x, y := column+i/3-1, row+i%3-1; min(x, y) >= 0 && max(x, y) < side {
						near[i] = m.at[x][y]
					}
				}
			}
		}
		for i := range 12 {
			p := &player{client: m.seen.Client(), screen: screen{shows: map[store.ID]Soldier{}}}
			p.wire.random = rand.New(rand.NewPCG(uint64(i), 1))
			p.soldier = m.enlist(w, i)
			m.players = append(m.players, p)
		}
	})
	right, wrong, lost, items := 0, 0, 0, 0
	for frame := 0; frame < 900 && err == nil; frame++ {
		if err = m.tick(ctx, frame); err == nil {
			err = m.see(ctx)
		}
		for _, p := range m.players {
			for _, in := range p.wire.arrive() {
				// region acknowledge
				err = errors.Join(err, p.client.Acknowledge(p.screen.take(in)))
				// endregion
				items += len(in.Now)
				switch current := in.Number == uint64(frame)+1; {
				case current && maps.Equal(m.truth(p), p.screen.shows):
					right++
				case current:
					wrong++
				}
			}
		}
	}
	for _, p := range m.players {
		lost += p.wire.lost
	}
	fmt.Println(err, lost, "messages of", 12*900, "were lost")
	fmt.Println(right, "screens show what the player may see,", wrong, "do not;", items/(12*900), "soldiers a message")
	// Output:
	// <nil> 2180 messages of 10800 were lost
	// 5742 screens show what the player may see, 0 do not; 2 soldiers a message
}

// truth is what a player may see.
func (m *match) truth(p *player) map[store.ID]Soldier {
	may := map[store.ID]Soldier{}
	for h := range m.visible(p) {
		may[h.ID] = *m.soldiers.At(h)
	}
	return may
}
