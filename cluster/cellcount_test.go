package cluster

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"handloom/cluster/internal/localnet"
	"handloom/proof/game"
	"handloom/world"
)

var cellCount = flag.Int("cells", 8, "number of cells that TestOpen_ManyCells opens on three servers")

// New cells open one after another, while the others tick.
func TestOpen_ManyCells(t *testing.T) {
	t.Parallel()
	cells := *cellCount
	if testing.Short() {
		cells = min(cells, 4)
	}
	c, err := localnet.Start(t.Context(), t.TempDir(), 3, nil)
	noError(t, err)
	defer func() { noError(t, c.Close()) }()
	ctx, stop := context.WithCancel(t.Context())
	var worlds []*world.World
	var ends []func() error
	slowest := time.Duration(0)
	for cell := range CellID(cells) {
		begin := time.Now()
		l, err := TryOpen(t, URLs(c.URLs(int(cell)%3)), cell, Options{})
		noError(t, err)
		ends = append(ends, l.Close)
		w, err := Try(t.Context(), func() (*world.World, error) {
			g := game.New(1, 100)
			return world.Open(t.Context(), g.Store, l.Log, world.Options{Version: "cells", Hz: 2, SnapshotTicks: 20, Init: g.Init, Tick: g.Tick})
		})
		if err != nil {
			t.Errorf("cell %d: %v", cell, err)
			continue
		}
		slowest = max(slowest, time.Since(begin))
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		ends[cell] = func() error {
			<-ended
			_ = w.Close(context.Background())
			return l.Close()
		}
		worlds = append(worlds, w)
	}
	for k, w := range worlds {
		WaitUntil(t, fmt.Sprint("ticks of cell ", k), func() bool { s := w.Status(); return s.Tick >= 2 && s.SaveErr == "" && s.Halted == "" })
	}
	stop()
	for _, end := range ends {
		noError(t, end())
	}
	t.Logf("%d cells; slowest %v", cells, slowest)
}
