package main

import (
	"context"
	"fmt"

	"handloom/history"
	"handloom/store"
	"handloom/world"
)

// region types

type player struct {
	Name        string
	Gold, Steps int
}

type payment struct {
	From, To store.Handle[player]
	Gold     int
}

// endregion

var names = []string{"ada", "bob", "cyd", "dee", "eve", "fay"}

const startGold = 100

type market struct {
	*store.Store
	players  *store.Table[player]
	payments *store.Table[payment]
	frame    *store.Schedule
}

// newMarket returns a market on a new store.
func newMarket(workers int) *market {
	m := newTables(workers)
	// region schedule
	type on = []store.Resource
	m.frame = store.NewSchedule(
		m.Store,
		store.System{Name: "walk", Writes: on{m.players}, Run: m.walk},
		store.System{Name: "pay", Reads: on{m.players, m.payments}, Emits: on{m.players}, Run: m.pay},
	)
	// endregion
	return m
}

func newTables(workers int) *market {
	m := &market{Store: store.New(store.Options{Workers: workers})}
	m.players = store.Register(m.Store, store.TableOptions[player]{Name: "player"})
	m.payments = store.Register(m.Store, store.TableOptions[payment]{Name: "payment", Events: true})
	return m
}

func (m *market) options() world.Options {
	return world.Options{Version: "market 1", Init: m.init, Tick: m.tick}
}

func (m *market) init(_ context.Context, w *store.Writer) error {
	for _, name := range names {
		m.players.Insert(w, player{Name: name, Gold: startGold})
	}
	return nil
}

func (m *market) tick(ctx context.Context, _ *store.Writer, _ world.Tick) error {
	if _, err := m.Flush(ctx); err != nil { // the requests
		return err
	}
	_, err := m.frame.Run(ctx)
	return err
}

func (m *market) walk(ctx context.Context) error {
	return m.players.ForEach(ctx, func(c store.Chunk[player]) {
		for i := range c.Items {
			c.Items[i].Steps++
		}
	})
}

// region pay

func (m *market) pay(ctx context.Context) error {
	return m.Do(ctx, func(q store.Queue) {
		for _, p := range m.payments.All() {
			from, to := *m.players.At(p.From), *m.players.At(p.To)
			if from.Gold < p.Gold {
				continue
			}
			from.Gold -= p.Gold
			to.Gold += p.Gold
			m.players.Put(q, p.From, from)
			m.players.Put(q, p.To, to)
		}
	})
}

// endregion

// region game

var game = history.Game{New: func(workers int) (*store.Store, world.Options, history.Checks, error) {
	m := newMarket(workers)
	return m.Store, m.options(), history.Checks{"gold": m.goldIsKept}, nil
}}

// goldIsKept holds after every tick.
func (m *market) goldIsKept() error {
	sum := 0
	for _, p := range m.players.All() {
		sum += p.Gold
	}
	if want := startGold * len(names); sum != want {
		return fmt.Errorf("got %d gold, want %d", sum, want)
	}
	return nil
}

// endregion
