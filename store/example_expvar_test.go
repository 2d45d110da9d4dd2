package store_test

import (
	"context"
	"encoding/json"
	"expvar"
	"fmt"
	"sync/atomic"

	"handloom/store"
)

// A program publishes its variables once, at the start; /debug/vars serves them.
var gameVars = expvar.NewMap("game")

// A program shows its store through expvar: the stats of each table and the last flush, as
// JSON.
func Example_expvar() {
	ctx := context.Background()
	var last atomic.Pointer[store.Report]
	s := store.New(store.Options{
		// The report is valid until the next flush, and requests come at any time.
		AfterFlush: func(r *store.Report) { last.Store(r.Clone()) },
	})
	ships := store.Register(s, store.TableOptions[Ship]{Name: "ship", Shards: 2})
	gameVars.Set("store", expvar.Func(func() any { return s.Stats() }))
	gameVars.Set("flush", expvar.Func(func() any { return last.Load() }))

	qs, _ := s.Queues(1)
	for hull := range 3 {
		ships.Emplace(qs[0], Ship{Hull: hull})
	}
	_, _ = s.Flush(ctx)

	// A monitor that requests /debug/vars reads:
	var read struct {
		Store store.Stats  `json:"store"`
		Flush store.Report `json:"flush"`
	}
	err := json.Unmarshal([]byte(gameVars.String()), &read)
	fmt.Println(err)
	fmt.Println(&read.Flush)
	for _, t := range read.Store.Tables {
		fmt.Println(t.Name, t.Live, "live in", t.Shards, "shards")
	}
	// Output:
	// <nil>
	// epoch 1: 3 created
	// ship 3 live in 2 shards
}
