package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"handloom/internal/chart"
	"handloom/internal/localpage"
)

//go:embed index.html page.css page.js
var files embed.FS

// A pageState is the state of a run on the page.
type pageState struct {
	Says          string
	Faults        []string
	Processes     []pageProcess // servers first
	Cells         [fieldCells]place
	Answered      uint64
	Crossed       int
	Longest, Open int64 // waits of players in milliseconds; Longest: since the last kill
	Events        []string
}

type pageProcess struct {
	Name  string
	Up    bool
	Kills int
}

// minPause is the shortest reported pause.
const minPause = 250 * time.Millisecond

func (a *arenaRun) state() pageState {
	longest, open := a.players.wait(false)
	s := pageState{Cells: a.places(), Answered: a.players.answered(), Longest: longest.Milliseconds(), Open: open.Milliseconds(), Events: a.Events(), Faults: a.Faults()}
	for _, m := range a.All {
		s.Processes = append(s.Processes, pageProcess{m.Name, m.Up(), m.Kills()})
	}
	a.players.mutex.Lock()
	s.Crossed = a.players.crossed
	a.players.mutex.Unlock()
	switch {
	case s.Answered == 0:
		s.Says = "Three servers and three nodes start, and share the cells."
	case open > minPause:
		s.Says = fmt.Sprintf("A player waits for %.1f s: a cell or its log elects a leader.", open.Seconds())
	default:
		s.Says = "Orders are carried out. Kill a node or a server and watch."
	}
	return s
}

// serve serves the page.
func (a *arenaRun) serve(l net.Listener) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /icon.svg", func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "image/svg+xml")
		_, _ = out.Write(chart.Icon)
	})
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
