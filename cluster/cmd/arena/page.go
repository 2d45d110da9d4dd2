package main

import (
	"context"
	_ "embed"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

var (
	//go:embed page.html
	pageHTML []byte
	//go:embed page.css
	pageCSS []byte
	//go:embed page.js
	pageJS []byte
)

// state is what the page shows.
type state struct {
	Says     string
	Nodes    [nodes]seen
	Tick     uint64
	Acked    uint64
	Again    int
	Pause    time.Duration // the longest
	Pauses   int           // that are worth a word
	Compared int
	Differs  string
	Events   []event
	Field    *field
}

// stateOf returns how everything does.
func stateOf(ctx context.Context, w *watch, p *players) state {
	f, err := w.arena(ctx)
	w.lock.Lock()
	s := state{Nodes: w.nodes, Tick: w.tick, Compared: w.compared, Differs: w.differs, Events: append([]event{}, w.happened...)}
	w.lock.Unlock()
	if err == nil {
		s.Field = &f
	}
	p.lock.Lock()
	for _, acked := range p.acked {
		s.Acked += acked
	}
	s.Again, s.Pause = p.again, p.pause
	s.Pauses = len(p.longer)
	began, quiet := !p.last.IsZero(), time.Since(p.last)
	p.lock.Unlock()
	switch {
	case s.Tick == 0 || !began:
		s.Says = "The nodes start and elect who has the log."
	case quiet > worthAWord:
		s.Says = fmt.Sprintf("The arena stands still since %.1f s: the nodes agree on an owner.", quiet.Seconds())
	default:
		s.Says = fmt.Sprintf("%d players in %s. Kill a node and watch.", len(p.acked), time.Since(w.begin).Round(time.Second))
	}
	return s
}

// servePage serves the page on address until ctx ends, and returns where.
func servePage(ctx context.Context, address string, w *watch, p *players, kill func(i int)) (url string, ended <-chan struct{}, err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	for name, file := range map[string]struct {
		kind string
		body []byte
	}{
		"{$}": {"text/html; charset=utf-8", pageHTML}, "page.css": {"text/css", pageCSS}, "page.js": {"text/javascript", pageJS},
	} {
		mux.HandleFunc("GET /"+name, func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Type", file.kind)
			_, _ = out.Write(file.body)
		})
	}
	mux.HandleFunc("GET /state", func(out http.ResponseWriter, r *http.Request) { answer(out, stateOf(r.Context(), w, p), nil) })
	mux.HandleFunc("POST /kill/{node}", func(_ http.ResponseWriter, r *http.Request) {
		if i, err := strconv.Atoi(r.PathValue("node")); err == nil && i >= 0 && i < nodes {
			kill(i)
		}
	})
	// A page of somebody else's may not kill anything, nor read.
	guarded := http.NewCrossOriginProtection().Handler(mux)
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		h := out.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		guarded.ServeHTTP(out, r)
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return fmt.Sprintf("http://%s/", l.Addr()), done, nil
}
