// Command market is a game server with a fault, which guide/find-out-why.md finds.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"

	"handloom/history"
	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "play" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		if err := play(ctx, os.Args[2]); err != nil {
			log.Fatal(err)
		}
		return
	}
	history.Main(game)
}

const requests = 300

// play runs the market in a folder until it has answered the requests of random players.
func play(ctx context.Context, folder string) (err error) {
	// region serve
	log, err := journal.Open(folder, journal.Options{Keep: 1 << 30})
	if err != nil {
		return err
	}
	m := newMarket(0)
	w, err := world.Open(ctx, m.Store, log, m.options())
	if err != nil {
		return errors.Join(err, log.Close())
	}
	// endregion
	random, players := rand.New(rand.NewPCG(1, 2)), m.handles()
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	for range requests {
		_, err = w.Submit(ctx, func(q store.Queue) error { m.request(q, random, players); return nil })
		if err != nil {
			break
		}
	}
	err = errors.Join(err, w.Close(context.Background()))
	if ran := <-ended; !errors.Is(ran, store.ErrClosed) {
		err = errors.Join(err, ran)
	}
	for h, p := range m.players.All() {
		fmt.Printf("%v %-3s has %3d gold\n", h, p.Name, p.Gold)
	}
	return errors.Join(err, log.Close())
}

func (m *market) handles() (all []store.Handle[player]) {
	for h := range m.players.All() {
		all = append(all, h)
	}
	return all
}

// request records the payments of a player: in most requests one, in some two.
func (m *market) request(q store.Queue, random *rand.Rand, players []store.Handle[player]) {
	payments := 1
	if random.IntN(100) == 0 {
		payments = 2
	}
	order := random.Perm(len(players))
	for _, to := range order[1 : 1+payments] {
		m.payments.Emplace(q, payment{From: players[order[0]], To: players[to], Gold: 1 + random.IntN(9)})
	}
}
