package main

import (
	"embed"
	"encoding/json"
	"net"
	"net/http"
	"time"

	"handloom/internal/localpage"
)

//go:embed index.html page.css page.js
var files embed.FS

// A pageState is the state of a run on the page.
type pageState struct {
	tally
	Faults, Events []string
	Up             map[string]bool // by process
	Cells          [fieldCells]place
}

func (a *arenaRun) state() pageState {
	s := pageState{tally: a.players.tally(false), Faults: a.Faults(), Events: a.Events(), Up: make(map[string]bool), Cells: a.places()}
	for _, m := range a.All {
		s.Up[m.Name] = m.Up()
	}
	return s
}

// serve serves the page.
func (a *arenaRun) serve(l net.Listener) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /state", func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(out).Encode(a.state())
	})
	mux.HandleFunc("POST /kill/{name}", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case a.kills <- r.PathValue("name"):
		default: // another kill waits
		}
	})
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: localpage.Guard(a.page, mux)}
	go func() { _ = server.Serve(l) }()
	return server
}
