package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"handloom/cluster/internal/nemesis"
	"handloom/internal/chart"
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
	// Pages of other sites can neither kill nor read.
	guarded := http.NewCrossOriginProtection().Handler(onlyHost(address, mux))
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		h := out.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		guarded.ServeHTTP(out, r)
	})}
	go func() { _ = server.Serve(l) }()
	return server
}

// onlyHost refuses requests for another host name than the address has: a site may let its name
// point to this machine. IP addresses and localhost belong to no site.
func onlyHost(address string, next http.Handler) http.Handler {
	own := hostOf(address)
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		host := hostOf(r.Host)
		if host != own && host != "localhost" && net.ParseIP(host) == nil {
			http.Error(out, fmt.Sprintf("host: got %q, want the address of the page", r.Host), http.StatusForbidden)
			return
		}
		next.ServeHTTP(out, r)
	})
}

func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.Trim(address, "[]")
}
