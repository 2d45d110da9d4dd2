package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"handloom/cluster/internal/nemesis"
	"handloom/internal/chart"
	"handloom/internal/cli"
)

//go:embed index.html page.css page.js
var files embed.FS

// A page shows a run.
type page struct {
	run     *nemesis.Run
	players *players
	log     *lines
}

type state struct {
	nemesis.State
	Says            string
	Answered, Again int64
	Events          []string
	Field           *field `json:",omitempty"`
}

func (p *page) state() state {
	s := state{State: p.run.State(), Answered: p.players.answered.Load(), Again: p.players.again.Load()}
	var f field
	if p.run.View(&f) == nil {
		s.Field = &f
	}
	p.log.mutex.Lock()
	s.Events = slices.Clone(p.log.all)
	p.log.mutex.Unlock()
	switch {
	case s.Answered == 0:
		s.Says = "The nodes start and elect an owner."
	case s.Still > minPause:
		s.Says = fmt.Sprintf("No tick for %.1f s: the nodes elect an owner.", s.Still.Seconds())
	default:
		s.Says = "Orders are carried out. Kill a node and watch."
	}
	return s
}

// minPause is the shortest reported pause.
const minPause = 250 * time.Millisecond

// servePage serves p at the address of the flag -page.
func servePage(l net.Listener, address string, p *page, kill chan<- int) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /icon.svg", func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "image/svg+xml")
		_, _ = out.Write(chart.Icon)
	})
	mux.HandleFunc("GET /state", func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(out).Encode(p.state())
	})
	mux.HandleFunc("POST /kill/{node}", func(_ http.ResponseWriter, r *http.Request) {
		if i, err := strconv.Atoi(r.PathValue("node")); err == nil && i >= 0 && i < nemesis.Members {
			select {
			case kill <- i:
			default: // another kill waits
			}
		}
	})
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: cli.LocalPage(address, mux)}
	go func() { _ = server.Serve(l) }()
	return server
}
