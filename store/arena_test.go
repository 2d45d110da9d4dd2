package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
)

// pipes is a listener whose connections lie in memory, so that a web server works
// under virtual time.
type pipes struct {
	connections chan net.Conn
	closed      chan struct{}
	once        sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.connections:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (*pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.connections <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// site is an arena server and a client of it. It works inside a bubble.
type site struct {
	*server
	t    *testing.T
	http http.Client
}

func newSite(t *testing.T, o store.Options) *site {
	t.Helper()
	v, err := newServer(o)
	if err != nil {
		t.Fatal(err)
	}
	p := &pipes{connections: make(chan net.Conn), closed: make(chan struct{})}
	transport := &http.Transport{DialContext: p.dial}
	web := &http.Server{Handler: v.handler()}
	served := make(chan error)
	go func() { served <- web.Serve(p) }()
	t.Cleanup(func() {
		ctx := context.Background()
		if err := web.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		transport.CloseIdleConnections()
		time.Sleep(time.Second) // of the bubble: connections on which a request was refused linger
		if err := v.Verify(ctx); err != nil {
			t.Error(err)
		}
		if _, err := v.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return &site{v, t, http.Client{Transport: transport}}
}

// ask sends a request and returns status and body of the answer.
func (s *site) ask(method, path string, body []byte) (status int, text string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, "http://arena"+path, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := s.http.Do(r)
	if err != nil {
		s.t.Error(err)
		return 0, ""
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Error(err)
	}
	return answer.StatusCode, string(all)
}

// join joins, which takes until the tick that it happens in is over.
func (s *site) join() (h store.Handle[fighter]) {
	status, text := s.ask("POST", "/join", nil)
	if err := json.Unmarshal([]byte(text), &h); err != nil || status != http.StatusOK {
		s.t.Errorf("join: %d, %s: %v", status, text, err)
	}
	return h
}

// begin begins to join, and returns when the request waits for a tick.
func (s *site) begin() (joined chan store.Handle[fighter]) {
	joined = make(chan store.Handle[fighter], 1)
	go func() { joined <- s.join() }()
	synctest.Wait()
	return joined
}

func (s *site) act(o order) {
	s.t.Helper()
	if status, text := s.ask("POST", "/act", encode(o)); status != http.StatusAccepted {
		s.t.Errorf("act: %d, %s", status, text)
	}
}

func (s *site) leave(h store.Handle[fighter]) {
	s.t.Helper()
	if status, text := s.ask("POST", "/leave?by="+url.QueryEscape(h.String()), nil); status != http.StatusAccepted {
		s.t.Errorf("leave: %d, %s", status, text)
	}
}

// listener is a client that follows, and the lines that it was sent.
type listener struct {
	mirror
	lines *json.Decoder
	body  io.Closer
	sum   *maphash.Hash
}

func (s *site) follow(seed maphash.Seed) *listener {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "GET", "http://arena/follow", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := s.http.Do(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		s.t.Fatal(answer, err)
	}
	f := &listener{body: answer.Body, sum: new(maphash.Hash)}
	f.sum.SetSeed(seed)
	f.lines = json.NewDecoder(io.TeeReader(answer.Body, f.sum))
	s.told(f)
	return f
}

// told waits for the line of a tick; then the copy must be the arena.
func (s *site) told(f *listener) delta {
	s.t.Helper()
	var d delta
	if err := f.lines.Decode(&d); err != nil {
		s.t.Fatal(err)
	}
	f.apply(d)
	if err := f.differs(s.server); err != nil || f.tick != s.now {
		s.t.Fatalf("before tick %d the copy, of tick %d, is not the arena: %v", s.now, f.tick, err)
	}
	return d
}

// visitors are players who do this and that, and what came of it.
type visitors struct {
	random  *rand.Rand
	players []store.Handle[fighter]
	gone    []store.Handle[fighter]

	created, replaced, written, erased int // fighters
	bullets                            int // ended
}

// move lets some players come, go and act before a tick, and returns those who come.
func (c *visitors) move(s *site) (joining []chan store.Handle[fighter]) {
	for len(c.players)+len(joining) < 2 || len(c.players) < 12 && c.random.IntN(15) == 0 {
		joining = append(joining, s.begin())
	}
	if c.random.IntN(40) == 0 && len(c.players) > 0 {
		i := c.random.IntN(len(c.players))
		s.leave(c.players[i])
		c.gone = append(c.gone, c.players[i])
		c.players = slices.Delete(c.players, i, i+1)
	}
	for _, h := range c.players {
		if c.random.IntN(3) > 0 {
			// Most orders are in time, some early, and some late or too late.
			s.act(order{h, s.now + c.random.IntN(9) - 6 + c.random.IntN(7), c.random.IntN(3) - 1, c.random.IntN(4) == 0})
		}
	}
	if len(c.gone) > 0 && c.random.IntN(20) == 0 {
		s.act(order{By: c.gone[c.random.IntN(len(c.gone))], Tick: s.now})
		s.leave(c.gone[0])
	}
	return joining
}

func (c *visitors) count(d delta) {
	c.created += len(d.Fighters.Created)
	c.replaced += len(d.Fighters.Replaced)
	c.written += len(d.Fighters.Written)
	c.erased += len(d.Fighters.Erased)
	c.bullets += len(d.Bullets.Erased)
}

// A thousand ticks in which players come, act, late ones among them, and go, all over
// HTTP and at random, but from one seed. A client that is told what the frames changed
// has the arena after each of them, and so has one who comes later. Everything is the
// same for any number of workers: the lines that were sent, byte by byte, and the store.
func TestAClientThatIsSentDeltasHasTheArenaAfterEveryTick(t *testing.T) {
	ticks := 1000
	if testing.Short() {
		ticks = 100
	}
	seed := maphash.MakeSeed()
	type outcome struct {
		sent, digest uint64
		lost         int
	}
	var first outcome
	for _, workers := range []int{1, 2, 8} {
		virtual(t, func(t *testing.T) {
			s := newSite(t, store.Options{Workers: workers})
			c := visitors{random: rand.New(rand.NewPCG(15, 15))}
			follower, late := s.follow(seed), (*listener)(nil)
			for tick := range ticks {
				if tick == ticks/3 {
					late = s.follow(seed)
					defer late.body.Close()
				}
				joining := c.move(s)
				if err := s.tick(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, joined := range joining {
					c.players = append(c.players, <-joined)
				}
				c.count(s.told(follower))
				if late != nil {
					s.told(late)
				}
				for _, h := range c.players {
					if _, lives := follower.fighters[h]; !lives {
						t.Fatalf("tick %d: player %v, who has joined, is not in the arena", tick, h)
					}
				}
			}
			defer follower.body.Close()
			if min(c.created, c.replaced, c.written, c.erased, c.bullets, s.lost) < ticks/100 {
				t.Errorf("too little happened: %+v, %d lost", c, s.lost)
			}
			got := outcome{follower.sum.Sum64(), digest(t, s.Store), s.lost}
			if workers == 1 {
				first = got
			} else if got != first {
				t.Errorf("with %d workers it came to %+v, with one to %+v", workers, got, first)
			}
		})
	}
}

// Everybody at once: players, followers, readers and the page for whoever runs the
// server, while ticks go on at 60 Hz. Nobody sees a half tick.
func TestAnArenaServerServesEverybodyAtOnce(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := newSite(t, store.Options{Workers: 2})
		ctx, cancel := context.WithCancel(t.Context())
		var ticking, players sync.WaitGroup
		ticking.Go(func() {
			loop := store.Loop{Hz: 60}
			err := loop.Run(ctx, func(ctx context.Context, _ uint64) error { return s.tick(ctx) })
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		for i := range 8 {
			players.Go(func() {
				h := s.join()
				for k := range 10 {
					s.act(order{By: h, Tick: 0, Move: k%3 - 1, Fire: true}) // which is too late
					time.Sleep(time.Duration(7+i) * time.Millisecond)       // of the bubble
				}
				s.leave(h)
			})
		}
		for _, path := range []string{"/", "/debug/store/", "/debug/store/?table=fighter&from=0&format=json"} {
			players.Go(func() {
				for range 20 {
					if status, text := s.ask("GET", path, nil); status != http.StatusOK {
						t.Errorf("%s: %d, %s", path, status, text)
					}
					time.Sleep(5 * time.Millisecond) // of the bubble
				}
			})
		}
		players.Wait()
		time.Sleep(50 * time.Millisecond) // of the bubble: the ticks in which the last ones leave
		cancel()
		ticking.Wait()
		if n := s.fighters.Len(); n != 0 || s.lost == 0 {
			t.Errorf("%d fighters are left; %d orders were too late", n, s.lost)
		}
	})
}

func TestABadRequestChangesNothing(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := newSite(t, store.Options{})
		for _, c := range []struct {
			method, path, body string
			status             int
		}{
			{"GET", "/join", "", http.StatusMethodNotAllowed},
			{"POST", "/", "", http.StatusMethodNotAllowed},
			{"POST", "/act", "", http.StatusBadRequest},
			{"POST", "/act", "[1, 2", http.StatusBadRequest},
			{"POST", "/act", `{"Move": 2}`, http.StatusBadRequest},
			{"POST", "/act", `{"By": "fighter"}`, http.StatusBadRequest},
			{"POST", "/act", strings.Repeat(" ", 2000) + "{}", http.StatusBadRequest},
			{"POST", "/leave", "", http.StatusBadRequest},
			{"POST", "/leave?by=7", "", http.StatusBadRequest},
			{"POST", "/leave?by=2:0.1", "", http.StatusAccepted}, // whom there is not, which is no fault
			{"DELETE", "/debug/store/", "", http.StatusMethodNotAllowed},
			{"GET", "/elsewhere", "", http.StatusNotFound},
		} {
			if status, text := s.ask(c.method, c.path, []byte(c.body)); status != c.status {
				t.Errorf("%s %s: %d, %s", c.method, c.path, status, text)
			}
		}
		if err := s.tick(t.Context()); err != nil || s.fighters.Len()+s.orders.Len() > 0 {
			t.Errorf("%d fighters, %d orders: %v", s.fighters.Len(), s.orders.Len(), err)
		}
	})
}

// A follower who reads nothing is cut off, and no tick waits for it.
func TestASlowFollowerIsCutOff(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := newSite(t, store.Options{})
		f := s.follow(maphash.MakeSeed())
		defer f.body.Close()
		for range 200 {
			if err := s.tick(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if len(s.followers) > 0 {
			t.Errorf("%d are followed still", len(s.followers))
		}
		told := 0
		for f.lines.Decode(new(delta)) == nil {
			told++
		}
		if told < 64 || told == 200 {
			t.Errorf("it was told of %d ticks", told)
		}
	})
}

// A player who gives up waiting has joined all the same, or not; the server goes on.
func TestAPlayerMayGiveUpJoining(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := newSite(t, store.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "POST", "http://arena/join", nil)
		if err != nil {
			t.Fatal(err)
		}
		failed := make(chan error)
		go func() {
			_, err := s.http.Do(r)
			failed <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		synctest.Wait()
		joined := s.begin()
		if err := s.tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		if f, lives := s.fighters.Get(<-joined); !lives || f.Player != 1 {
			t.Errorf("the other one is %+v, %t", f, lives)
		}
	})
}
