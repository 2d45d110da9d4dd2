// Command bank keeps accounts in a durable world and serves them over HTTP. See
// guide/durable-server.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// region types

type account struct {
	Name    string
	Balance int64
}

type order struct {
	From, To string
	Amount   int64
}

// endregion

// run serves the bank until ctx ends or the world halts.
func run(ctx context.Context, folder, addr string) error {
	// region tables
	s := store.New(store.Options{})
	accounts := store.Register(s, store.TableOptions[account]{Name: "account"})
	byName := store.AddIndex(accounts, "name", func(a *account) (string, bool) { return a.Name, true })
	orders := world.NewRequests[order, string](s, "order", 1_000_000, time.Hour)
	// endregion

	// region tick
	tick := orders.Tick(func(_ *store.Writer, _ world.Tick, o order) (answer string) {
		from, ok := byName.Find(o.From)
		to, found := byName.Find(o.To)
		switch {
		case !ok || !found || o.Amount <= 0:
			return "no such account or amount"
		case accounts.At(from).Balance < o.Amount:
			return "not enough money"
		}
		accounts.At(from).Balance -= o.Amount
		accounts.At(to).Balance += o.Amount
		return "done"
	})
	// endregion

	// region open
	log, err := journal.Open(folder, journal.Options{})
	if err != nil {
		return err
	}
	defer log.Close()
	w, err := world.Open(ctx, s, log, world.Options{Version: "bank 1", Tick: tick})
	if err != nil {
		return err
	}
	// endregion

	// region handlers
	mux := http.NewServeMux()
	mux.Handle("PUT /account/{name}", handler(func(r *http.Request) (answer string, err error) {
		a := account{r.PathValue("name"), 100}
		_, err = w.Submit(r.Context(), func(q store.Queue) error { accounts.Emplace(q, a); return nil })
		return "open", err
	}))
	mux.Handle("PUT /transfer/{key}", handler(func(r *http.Request) (answer string, err error) {
		amount, _ := strconv.ParseInt(r.FormValue("amount"), 10, 64) // 0 if it is not a number
		return orders.Submit(r.Context(), w, r.PathValue("key"), order{r.FormValue("from"), r.FormValue("to"), amount})
	}))
	mux.Handle("GET /account/{name}", handler(func(r *http.Request) (answer string, err error) {
		err = w.Read(r.Context(), func(context.Context, world.Tick) error {
			answer = "no such account"
			if h, ok := byName.Find(r.PathValue("name")); ok {
				answer = fmt.Sprint(accounts.At(h).Balance)
			}
			return nil
		})
		return answer, err
	}))
	// endregion

	// region end
	web, ended := http.Server{Addr: addr, Handler: http.MaxBytesHandler(mux, 4096), MaxHeaderBytes: 4096}, make(chan error, 2)
	go func() { ended <- w.Run(context.Background()) }()
	go func() { ended <- web.ListenAndServe() }()
	select {
	case <-ctx.Done():
	case err = <-ended:
	}
	// In this order: requests get answers, then the world saves, then the journal closes.
	return errors.Join(err, web.Shutdown(context.Background()), w.Close(context.Background()))
	// endregion
}

// region handler

// A handler answers a request.
type handler func(r *http.Request) (answer string, err error)

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := h(r)
	switch {
	case err == nil:
		fmt.Fprintln(w, answer)
	case errors.Is(err, store.ErrUncertain), errors.Is(err, world.ErrTick):
		http.Error(w, "unknown: repeat the request", http.StatusGatewayTimeout)
	case errors.Is(err, store.ErrDuplicate):
		http.Error(w, "taken", http.StatusConflict)
	default: // ErrFull, ErrQueueFull, ErrNotLeader, ErrClosed
		http.Error(w, "repeat the request later: "+err.Error(), http.StatusServiceUnavailable)
	}
}

// endregion

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, "bank", "localhost:8080"); err != nil {
		log.Fatal(err)
	}
}
