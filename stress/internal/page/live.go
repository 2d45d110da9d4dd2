package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"handloom/stress/internal/feed"
)

const (
	maxViewers   = 32
	restBetween  = 200 * time.Millisecond // between two pictures to one viewer
	writeTimeout = 5 * time.Second
)

// Live is a sink that serves the live page until it is closed.
type Live struct {
	public   bool
	listener net.Listener
	server   *http.Server
	served   chan error // of Serve, once
	end      func() error
	patience time.Duration // how long the end waits for viewers

	lock    sync.Mutex
	seen    feed.Collector
	changed chan struct{} // closed at the next event
	closed  bool
	viewers int
}

// Serve listens on address and begins to serve. It fails on an address that is
// not a loopback one, unless public is set, and on one that is taken.
func Serve(address string, public bool) (*Live, error) {
	a, err := resolve(address, public)
	if err != nil {
		return nil, err
	}
	listener, err := net.ListenTCP("tcp", a)
	if err != nil {
		return nil, err
	}
	l := &Live{public: public, listener: listener, served: make(chan error, 1), patience: 2 * time.Second, changed: make(chan struct{})}
	l.end = sync.OnceValue(l.close)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", l.page)
	mux.HandleFunc("GET /events", l.events)
	l.server = &http.Server{Handler: l.guard(mux), ReadHeaderTimeout: writeTimeout, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	go func() { l.served <- l.server.Serve(listener) }()
	return l, nil
}

// URL returns where the page is.
func (l *Live) URL() string { return fmt.Sprintf("http://%s/", l.listener.Addr()) }

// Event shows e.
func (l *Live) Event(e feed.Event) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.seen.Event(e)
	l.announce()
}

// announce wakes the viewers; the lock is held.
func (l *Live) announce() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Close sends the last picture to every viewer, stops the server and returns
// when nothing of it is left, which takes two seconds at most. Closing twice does
// no harm.
func (l *Live) Close() error { return l.end() }

func (l *Live) close() error {
	l.lock.Lock()
	l.closed = true
	l.announce()
	l.lock.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), l.patience)
	defer cancel()
	err := l.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) { // a viewer that does not read
		err = l.server.Close()
	}
	if serving := <-l.served; !errors.Is(serving, http.ErrServerClosed) {
		err = errors.Join(err, serving)
	}
	return err
}

// snapshot returns what was seen so far, the channel that the next event closes,
// and whether there will be one.
func (l *Live) snapshot() (c *feed.Collector, changed <-chan struct{}, closed bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.seen.Clone(), l.changed, l.closed
}

// guard refuses requests under a foreign name and sets what every answer has.
func (l *Live) guard(next http.Handler) http.Handler {
	policy := livePolicy()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !l.public && !localHost(r.Host) {
			http.Error(w, "this page answers to a loopback address only", http.StatusForbidden)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func (l *Live) page(w http.ResponseWriter, _ *http.Request) {
	c, _, _ := l.snapshot()
	text, err := whole(c)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(text) // a viewer that has gone needs no answer
}

// enter counts a viewer in, unless there are too many.
func (l *Live) enter() bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.viewers == maxViewers {
		return false
	}
	l.viewers++
	return true
}

func (l *Live) leave() {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.viewers--
}

// events sends a picture after every event, but not too often, and says when
// there will be no more.
func (l *Live) events(w http.ResponseWriter, r *http.Request) {
	if !l.enter() {
		http.Error(w, "too many viewers", http.StatusServiceUnavailable)
		return
	}
	defer l.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	rest := time.NewTimer(restBetween)
	defer rest.Stop()
	for {
		c, changed, closed := l.snapshot()
		if err := send(w, c, closed); err != nil || closed {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
		if !l.pause(r.Context(), rest) {
			return
		}
	}
}

// pause waits until a viewer may have the next picture; not at all when the run
// has ended. It reports whether the viewer is still there.
func (l *Live) pause(ctx context.Context, rest *time.Timer) bool {
	for {
		_, changed, closed := l.snapshot()
		if closed {
			return true
		}
		select {
		case <-rest.C:
			rest.Reset(restBetween)
			return true
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// send writes the picture as one server-sent event, and the end as another.
func send(w http.ResponseWriter, c *feed.Collector, last bool) error {
	text, err := body(c)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	text = bytes.ReplaceAll(text, []byte("\r"), []byte(" ")) // which would end a line of the stream
	for line := range bytes.Lines(text) {
		b.WriteString("data: ")
		b.Write(bytes.TrimSuffix(line, []byte("\n")))
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	if last {
		b.WriteString("event: end\ndata: end\n\n")
	}
	control := http.NewResponseController(w)
	if err := control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return err
	}
	return control.Flush()
}
