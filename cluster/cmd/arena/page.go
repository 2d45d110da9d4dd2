package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"handloom/cluster/internal/localnet"
	"handloom/internal/chart"
	"handloom/internal/cli"
)

//go:embed index.html page.css page.js
var files embed.FS

// A pageState is the state of a run on the page.
type pageState struct {
	Says              string
	Fault             string
	Processes         []pageProcess // servers first
	Cells             []pageCell
	Answered, Crossed int
	Open, Longest     int64 // waits of players in milliseconds; Longest: since the last kill
	Events            []string
}

type pageProcess struct {
	Name  string
	Up    bool
	Kills int
	Leads int // cells
}

type pageCell struct {
	Leader    string
	Followers []string
	Fighters  []fighter
}

// minPause is the shortest reported pause.
const minPause = 250 * time.Millisecond

func (a *arenaRun) state() pageState {
	leaders, followers := a.places()
	longest, open := a.players.wait()
	leads := make(map[string]int)
	a.mutex.Lock()
	defer a.mutex.Unlock()
	s := pageState{Says: "Orders are carried out. Kill a node or a server and watch.", Open: open.Milliseconds(), Longest: longest.Milliseconds(), Events: a.events}
	for i, name := range leaders {
		leads[name]++
		s.Cells = append(s.Cells, pageCell{name, followers[i], a.views[i]})
	}
	for _, m := range a.All {
		s.Processes = append(s.Processes, pageProcess{m.Name, m.Up(), m.Kills(), leads[m.Name]})
	}
	a.players.mutex.Lock()
	s.Answered, s.Crossed = a.players.answered, a.players.crossed
	a.players.mutex.Unlock()
	if len(a.faults) > 0 {
		s.Fault = a.faults[0]
	}
	switch {
	case s.Answered == 0:
		s.Says = fmt.Sprintf("%d servers and %d nodes start, and share the cells.", localnet.Size, localnet.Size)
	case open > minPause:
		s.Says = fmt.Sprintf("A player waits for %.1f s: a cell or its log elects a leader.", open.Seconds())
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
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: cli.LocalPage(a.page, mux)}
	go func() { _ = server.Serve(l) }()
	return server
}
