//go:build unix

package nemesis

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"handloom/cluster"
	"handloom/cluster/internal/audit"
	"handloom/journal"
	"handloom/proof/game"
	"handloom/store"
	"handloom/world"
)

// cell is that of the world which all nodes play.
const cell cluster.CellID = 1

// node plays the world, with calls that clients make through a port of its own. The
// words are name, folder, workers, Hz, the servers' URLs, and a fault or none.
func (c child) node(ctx context.Context, words []string) error {
	workers, err1 := strconv.Atoi(words[2])
	hz, err2 := strconv.Atoi(words[3])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(words[1], "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	log := slog.New(slog.NewTextHandler(file, nil))
	j, err := journal.Open(filepath.Join(words[1], "journal"), journal.Options{Sync: journal.Every(time.Second), SegmentBytes: 1 << 20})
	if err != nil {
		return err
	}
	defer j.Close()
	if cut, ok := j.WasCut(); ok {
		c.Say("cut %+v", cut)
	}
	log.Info("start")
	l, err := openLog(ctx, cluster.URLs(strings.Split(words[4], ","),
		nats.ConnectHandler(func(c *nats.Conn) { log.Info("connected", "server", c.ConnectedServerName()) }),
		nats.ReconnectHandler(func(c *nats.Conn) { log.Info("connected", "server", c.ConnectedServerName()) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { log.Info("disconnected", "err", err) }),
	), cluster.Options{Journal: j})
	if err != nil {
		return ended(ctx, err)
	}
	defer l.Close()
	for ctx.Err() == nil {
		if err := c.play(ctx, workers, hz, faulty(l, words[5]), log); err != nil {
			return err
		}
	}
	return nil
}

// openLog opens the log, as soon as the servers let it.
func openLog(ctx context.Context, s cluster.Servers, o cluster.Options) (*cluster.Log, error) {
	for {
		l, err := cluster.Open(ctx, s, cell, o)
		if err == nil || forGood(err) || ctx.Err() != nil {
			return l, err
		}
	}
}

// forGood reports whether an error of Open or Run says that something is wrong with the
// log, or the state. Anything else passes.
func forGood(err error) bool {
	for _, wrong := range []error{
		world.ErrCorrupt, world.ErrDiverged, world.ErrProgram, world.ErrTick, store.ErrSnapshot,
		cluster.ErrSettings, cluster.ErrCorrupt, cluster.ErrBehind, cluster.ErrOtherStream, journal.ErrBroken,
	} {
		if errors.Is(err, wrong) {
			return true
		}
	}
	return false
}

// ended is err, unless the parent wanted the end.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && !forGood(err) {
		return nil
	}
	return err
}

// play opens the world and plays it until ctx ends, or the servers keep it from opening.
func (c child) play(ctx context.Context, workers, hz int, l world.Log, log *slog.Logger) error {
	g, err := newGame(workers)
	if err != nil {
		return err
	}
	w, err := world.Open(ctx, g.Store, l, options(g, hz, c.tell))
	if err != nil {
		if !forGood(err) {
			c.Say("wait %s", strings.ReplaceAll(err.Error(), "\n", "; "))
			log.Info("open", "err", err)
			time.Sleep(watchEvery)
			return nil
		}
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, w.Close(ctx))
	}
	var all sync.WaitGroup
	all.Go(func() { serve(listener, w, g) })
	all.Go(func() { c.watch(ctx, w, log) })
	c.Say("listen %s", listener.Addr())
	log.Info("open", "status", w.Status())
	err = w.Run(ctx)
	listener.Close()
	late, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	closing := w.Close(late)
	if err == nil || ctx.Err() != nil && !forGood(err) {
		err = nil
	}
	if closing != nil && !forGood(closing) {
		closing = nil // the servers are gone already
	}
	if err == nil && closing == nil {
		c.Say("closed")
	}
	return errors.Join(err, closing)
}

// tell says what a tick came to.
func (c child) tell(p audit.Played) {
	what := "tick"
	if p.Replay {
		what = "replay"
	}
	c.Say("%s %d %d", what, p.Number, p.Digest)
}

const watchEvery = 50 * time.Millisecond

// watch says how the world does, until ctx ends, and logs what changes.
func (c child) watch(ctx context.Context, w *world.World, log *slog.Logger) {
	var was world.Status
	for range time.Tick(watchEvery) {
		if ctx.Err() != nil {
			return
		}
		s := w.Status()
		if s.Owner != was.Owner || s.Term != was.Term || s.AppendErr != was.AppendErr || s.SaveErr != was.SaveErr || s.Halted != was.Halted {
			log.Info("world", "status", s, "append_max", s.AppendMax)
			was = s
		}
		if s.Halted != "" {
			return
		}
		c.Say("status %t %d %d %d", s.Owner, s.Term, s.Tick, s.Overtaken)
	}
}

// serve takes the calls of clients, each a line that is a key, and answers each.
func serve(listener net.Listener, w *world.World, g *game.Game) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			lines := bufio.NewScanner(conn)
			for lines.Scan() {
				key, err := strconv.ParseUint(lines.Text(), 10, 64)
				if err != nil {
					return
				}
				if _, err := fmt.Fprintln(conn, answer(w, g, key)); err != nil {
					return
				}
			}
		}()
	}
}

// callTime is how long a call may wait for its tick.
const callTime = time.Second

// answer makes a call, and says what became of it.
func answer(w *world.World, g *game.Game, key uint64) string {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	receipt, err := w.Submit(ctx, g.Leave(key))
	switch {
	case err == nil:
		return fmt.Sprintf("ok %d %d", key, receipt.Tick())
	case errors.Is(err, store.ErrUncertain), errors.Is(err, world.ErrTick):
		return fmt.Sprintf("open %d", key)
	}
	return fmt.Sprintf("no %d", key)
}
