package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"handloom/store"
)

// region news

// walker is an item that clients see.
type walker struct{ X, Speed int }

// news has the changes of one frame, for the network.
type news struct {
	Gone []store.ID          `json:",omitempty"`
	Now  map[store.ID]walker `json:",omitempty"`
}

// newsOf reads the change lists of the last frame. It compares nothing and visits only changed
// items.
func newsOf(walkers *store.Table[walker]) news {
	d := news{Now: make(map[store.ID]walker)}
	for h := range store.Erased(walkers) {
		d.Gone = append(d.Gone, h.ID)
	}
	for h, v := range store.Created(walkers) {
		d.Now[h.ID] = *v
	}
	for h, v := range store.Written(walkers) {
		d.Now[h.ID] = *v
	}
	return d
}

// endregion

// region onlooker

// onlooker is a client's copy.
type onlooker map[store.ID]walker

func (c onlooker) apply(message []byte) error {
	var d news
	err := json.Unmarshal(message, &d)
	for _, id := range d.Gone {
		delete(c, id)
	}
	maps.Copy(c, d.Now)
	return err
}

// endregion

// A network layer keeps a client's copy equal: it sends the created, erased, put and written
// items of each frame.
func ExampleWritten() {
	ctx := context.Background()
	s := store.New(store.Options{})
	// region walk
	walkers := store.Register(s, store.TableOptions[walker]{Changes: true})

	// Walkers are written in place, and are erased at 4.
	walk := func(ctx context.Context) error {
		return walkers.ForEach(ctx, func(c store.Chunk[walker]) {
			for i := range c.Items {
				v := &c.Items[i]
				if v.Speed == 0 {
					continue // unchanged items are not sent
				}
				v.X += v.Speed
				c.Wrote(i)
				if v.X > 4 {
					c.Erase(i)
				}
			}
		})
	}
	// endregion
	// A walker at 2 stops, and a new one is created.
	rest := func(ctx context.Context) error {
		return s.Do(ctx, func(q store.Queue) {
			for h, v := range walkers.All() {
				if v.X == 2 && v.Speed > 0 {
					walkers.Put(q, h, walker{X: 2})
				}
			}
			walkers.Emplace(q, walker{Speed: 1 + walkers.Len()%2*2})
		})
	}
	tick := 0
	type on = []store.Resource
	frame := store.NewSchedule(
		s,
		store.System{Name: "walk", Writes: on{walkers}, Emits: on{walkers}, Run: walk},
		store.System{Name: "rest", Reads: on{walkers}, Emits: on{walkers}, Run: rest, If: func() bool { return tick < 5 }},
	)

	client := onlooker{}
	for tick = range 6 { // the last frame records nothing
		if _, err := frame.Run(ctx); err != nil {
			fmt.Println(err)
		}
		message, _ := json.Marshal(newsOf(walkers))
		if err := client.apply(message); err != nil {
			fmt.Println(err)
		}
		server := onlooker{}
		for h, v := range walkers.All() {
			server[h.ID] = *v
		}
		fmt.Println(string(message), maps.Equal(client, server))
	}
	// Output:
	// {"Now":{"1:0.1":{"X":0,"Speed":1}}} true
	// {"Now":{"1:0.1":{"X":1,"Speed":1},"1:1.1":{"X":0,"Speed":3}}} true
	// {"Now":{"1:0.1":{"X":2,"Speed":0},"1:1.1":{"X":3,"Speed":3},"1:2.1":{"X":0,"Speed":1}}} true
	// {"Gone":["1:1.1"],"Now":{"1:1.2":{"X":0,"Speed":1},"1:2.1":{"X":1,"Speed":1}}} true
	// {"Now":{"1:1.2":{"X":1,"Speed":1},"1:2.1":{"X":2,"Speed":0},"1:3.1":{"X":0,"Speed":3}}} true
	// {"Now":{"1:1.2":{"X":2,"Speed":1},"1:3.1":{"X":3,"Speed":3}}} true
}
