package nemesis

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"handloom/cluster"
	"handloom/cluster/internal/audit"
	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// cell is that of the world which all nodes play.
const cell cluster.CellID = 1

// node plays the world, and takes the calls of clients on a port of its own. The words are
// folder, workers, Hz, the servers' URLs, a fault or none, [apart] or another word, and the folder of
// snapshots or none.
func (c child) node(ctx context.Context, words []string, game NewGame) error {
	workers, err1 := strconv.Atoi(words[1])
	hz, err2 := strconv.Atoi(words[2])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(words[0], "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	log := slog.New(slog.NewTextHandler(file, nil))
	j, err := journal.Open(filepath.Join(words[0], "journal"), journal.Options{Sync: journal.Every(time.Second), SegmentBytes: 1 << 20})
	if err != nil {
		return err
	}
	defer j.Close()
	if cut, ok := j.Truncated(); ok {
		c.Logf("cut %+v", cut)
	}
	log.Info("start")
	connected := func(c *nats.Conn) { log.Info("connected", "server", c.ConnectedServerName()) }
	o := []nats.Option{
		nats.ConnectHandler(connected), nats.ReconnectHandler(connected),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { log.Info("disconnected", "err", err) }),
	}
	if words[5] == apart {
		o = append(o, nats.DontRandomize())
	}
	l, err := openLog(ctx, cluster.URLs(strings.Split(words[3], ","), o...), withSnapshots(cluster.Options{Journal: j}, words[6]))
	if err != nil {
		return ended(ctx, err)
	}
	defer l.Close()
	p := player{child: c, file: log, log: l, apart: words[5] == apart}
	for ctx.Err() == nil {
		g, err := game(workers)
		if err != nil {
			return err
		}
		if err := p.play(ctx, g, g.options(hz, c.tell), faulty(l, words[4])); err != nil {
			return err
		}
	}
	return nil
}

// apart has a node connect to the server of its number first, and keep the lead of the stream
// off that server while the node owns the log: one machine then never takes both along.
const apart = "apart"

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
		world.ErrCorrupt, world.ErrDiverged, world.ErrVersion, world.ErrTick, store.ErrSnapshot,
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

// A player plays the world of a node.
type player struct {
	child
	file  *slog.Logger
	log   *cluster.Log
	apart bool // see [apart]
	game  *Game
	world *world.World
}

// play opens the world and plays it until ctx ends, or the servers keep it from opening.
func (p player) play(ctx context.Context, g *Game, o world.Options, l world.Log) error {
	w, err := world.Open(ctx, g.Store, l, o)
	if err != nil {
		// The list of snapshots may come from a server that was started with this node, and
		// lags: the log then looks corrupt. The auditor sees a log that is.
		if !forGood(err) || p.apart && errors.Is(err, world.ErrCorrupt) {
			p.Logf("wait %s", strings.ReplaceAll(err.Error(), "\n", "; "))
			p.file.Info("open", "err", err)
			time.Sleep(watchEvery)
			return nil
		}
		return err
	}
	p.game, p.world = g, w
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, w.Close(ctx))
	}
	go p.serve(listener)
	go p.watch(ctx)
	if p.apart {
		go p.keepApart(ctx)
	}
	p.Logf("listen %s", listener.Addr())
	p.file.Info("open", "status", w.Status())
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
		p.Logf("closed")
	}
	return errors.Join(err, closing)
}

// tell says what a tick came to.
func (c child) tell(p audit.Played) {
	what := "tick"
	if p.Replay {
		what = "replay"
	}
	c.Logf("%s %d %d", what, p.Number, p.Digest)
}

const watchEvery = 50 * time.Millisecond

// watch reports how the world does, until ctx ends, and logs changes.
func (p player) watch(ctx context.Context) {
	var was world.Status
	for range time.Tick(watchEvery) {
		if ctx.Err() != nil {
			return
		}
		s := p.world.Status()
		if s.Leader != was.Leader || s.Term != was.Term || s.AppendErr != was.AppendErr || s.SaveErr != was.SaveErr || s.Halted != was.Halted {
			p.file.Info("world", "status", s, "append_max", s.AppendMax)
			was = s
		}
		if s.Halted != "" {
			return
		}
		p.Logf("status %t %d %d %d", s.Leader, s.Term, s.Tick, s.LostAppends)
	}
}

// keepApart has the stream led by another server while this node owns the log. It looks every
// second, because leaders die too.
func (p player) keepApart(ctx context.Context) {
	for range time.Tick(time.Second) {
		if ctx.Err() != nil {
			return
		}
		if p.world.Status().Leader {
			_, _ = p.log.StepDown(ctx) // or else later
		}
	}
}

// serve answers each line of each client.
func (p player) serve(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			for lines := bufio.NewScanner(conn); lines.Scan(); {
				if _, err := fmt.Fprintln(conn, p.answer(lines.Text())); err != nil {
					return
				}
			}
		}()
	}
}

// callTime is how long a call may wait for its tick.
const callTime = time.Second

// viewLine is the line of a client that asks for the state.
const viewLine = "view"

// answer returns the answer to a line, which is [viewLine], or the key and text of a call.
func (p player) answer(line string) string {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	if line == viewLine {
		var view any
		err := p.world.Read(ctx, func(context.Context, world.Tick) error {
			view = p.game.View()
			return nil
		})
		if b, failed := json.Marshal(view); err == nil && failed == nil {
			return string(b)
		}
		return "null"
	}
	word, text, _ := strings.Cut(line, " ")
	key, err := strconv.ParseUint(word, 10, 64)
	if err != nil {
		return "bad key: " + word
	}
	call, err := p.game.Call(key, text)
	if err != nil {
		return "bad call: " + err.Error()
	}
	receipt, err := p.world.Submit(ctx, call)
	switch {
	case err == nil:
		return fmt.Sprintf("ok %d %d", key, receipt.Tick())
	case errors.Is(err, store.ErrUncertain), errors.Is(err, world.ErrTick):
		return fmt.Sprintf("open %d", key)
	}
	return fmt.Sprintf("no %d", key)
}
