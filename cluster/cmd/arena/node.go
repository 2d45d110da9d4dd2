package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"handloom/cluster"
	"handloom/cluster/internal/arenagame"
	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// nodeCommand is the first word of the command line of a node.
const nodeCommand = "node"

// node is one process: a server of the log, and a world that plays the arena on it.
type node struct {
	number, workers, hz int
	dir                 string
	clients, routes     []string

	game  *arenagame.Game
	world *world.World

	lock    sync.Mutex
	digests []digest // of the last ticks
	err     error    // of a digest
}

// digest is that of the state behind a tick.
type digest struct{ Tick, Sum uint64 }

// keepDigests is how many a node has to tell.
const keepDigests = 40

// runNode is a node until its standard input ends, or it is killed. It says on its
// standard output where it is to be asked.
func runNode(words []string, in io.Reader, out, errs io.Writer) (exit int) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM) // what ends the run is the parent's to answer
	n := new(node)
	if err := n.parse(words); err != nil {
		fmt.Fprintln(errs, err)
		return 2
	}
	ctx, end := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, in)
		end()
	}()
	if err := n.run(ctx, out); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(errs, strings.ReplaceAll(err.Error(), "\n", "; "))
		return 1
	}
	return 0
}

func (n *node) parse(words []string) (err error) {
	if len(words) != 6 {
		return errors.New("want NUMBER WORKERS HZ DIR CLIENTS ROUTES")
	}
	for i, into := range []*int{&n.number, &n.workers, &n.hz} {
		if *into, err = strconv.Atoi(words[i]); err != nil {
			return err
		}
	}
	n.dir, n.clients, n.routes = words[3], strings.Split(words[4], ","), strings.Split(words[5], ",")
	if n.number < 0 || n.number >= len(n.clients) || n.number >= len(n.routes) {
		return fmt.Errorf("node %d has no address", n.number)
	}
	return nil
}

// cell is that of the arena.
const cell cluster.CellID = 1

// run plays the arena until ctx ends.
func (n *node) run(ctx context.Context, out io.Writer) error {
	server, err := n.startServer()
	if err != nil {
		return err
	}
	defer func() {
		server.Shutdown()
		server.WaitForShutdown()
	}()
	if n.game, err = arenagame.New(n.workers); err != nil {
		return err
	}
	j, err := journal.Open(filepath.Join(n.dir, "journal"), journal.Options{Sync: journal.Every(time.Second)})
	if err != nil {
		return err
	}
	defer j.Close()
	log, err := cluster.Open(ctx, cluster.URLs(n.urls(), nats.DontRandomize()), cell, cluster.Options{Journal: j})
	if err != nil {
		return err
	}
	defer log.Close()
	if n.world, err = world.Open(ctx, n.game.Store, log, n.game.Options(n.hz, n.applied)); err != nil {
		return err
	}
	shut, err := n.listen(out)
	if err != nil {
		return errors.Join(err, n.world.Close(ctx))
	}
	go n.keepApart(ctx, log)
	err = n.world.Run(ctx)
	return errors.Join(err, n.world.Close(context.Background()), shut())
}

// urls are those of all servers, the node's own first: that is what StepDown asks for.
func (n *node) urls() (all []string) {
	for k := range n.clients {
		all = append(all, "nats://"+n.clients[(n.number+k)%len(n.clients)])
	}
	return all
}

// keepApart has another server lead the log while this node owns it, or one process would
// take both along. It looks now and then, for leaders die too.
func (n *node) keepApart(ctx context.Context, log *cluster.Log) {
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
		if n.world.Status().Owner {
			_, _ = log.StepDown(ctx) // or else later
		}
	}
}

// listen serves those who play and those who look on.
func (n *node) listen(out io.Writer) (shut func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /order", n.order)
	mux.HandleFunc("GET /status", n.status)
	mux.HandleFunc("GET /field", n.field)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	fmt.Fprintf(out, "http://%s/\n", l.Addr())
	return func() error {
		err := server.Close()
		<-served
		return err
	}, nil
}

// applied keeps the digest of a tick.
func (n *node) applied(ctx context.Context, o world.Outcome) {
	sum, err := n.game.Store.Digest(ctx)
	n.lock.Lock()
	defer n.lock.Unlock()
	n.err = errors.Join(n.err, err)
	if len(n.digests) == keepDigests {
		n.digests = append(n.digests[:0], n.digests[1:]...)
	}
	n.digests = append(n.digests, digest{o.Number, sum})
}

// order takes one, and answers when it has been carried out on this node and is in the
// log on most.
func (n *node) order(w http.ResponseWriter, r *http.Request) {
	var o arenagame.Order
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&o); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, err := n.world.Submit(r.Context(), func(q store.Queue) error {
		n.game.Orders.Emplace(q, o)
		return nil
	})
	switch {
	case errors.Is(err, world.ErrNotOwner):
		http.Error(w, err.Error(), http.StatusMisdirectedRequest)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

// nodeStatus is what a node says of itself.
type nodeStatus struct {
	World   world.Status
	Digests []digest
}

func (n *node) status(w http.ResponseWriter, _ *http.Request) {
	n.lock.Lock()
	s := nodeStatus{n.world.Status(), append([]digest(nil), n.digests...)}
	n.lock.Unlock()
	answer(w, s, nil)
}

// field is the arena as it is behind the last tick.
type field struct {
	Tick     uint64
	Fighters []arenagame.Fighter
	Bullets  []arenagame.Bullet
}

func (n *node) field(w http.ResponseWriter, r *http.Request) {
	f := field{Fighters: []arenagame.Fighter{}, Bullets: []arenagame.Bullet{}}
	err := n.world.Read(r.Context(), func(_ context.Context, t world.Tick) error {
		f.Tick = t.Number
		for _, item := range n.game.Fighters.All() {
			f.Fighters = append(f.Fighters, *item)
		}
		for _, item := range n.game.Bullets.All() {
			f.Bullets = append(f.Bullets, *item)
		}
		return nil
	})
	answer(w, f, err)
}

// answer sends what is to be told as JSON.
func answer(w http.ResponseWriter, v any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
