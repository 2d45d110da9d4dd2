package nemesis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"handloom/cluster"
	"handloom/cluster/internal/audit"
	"handloom/journal"
	"handloom/proof/game"
	"handloom/proof/process"
	"handloom/store"
	"handloom/world"
)

const cell cluster.CellID = 1

// Node runs the world and serves clients, for [localnet.Child]. words are: folder, workers, server
// URLs, fault or none, folder of snapshots or none.
func Node(ctx context.Context, c *process.Child, words []string) error {
	workers, err := strconv.Atoi(words[1])
	if err != nil {
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
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	log.Info("start")
	connected := func(c *nats.Conn) { log.Info("connected", "server", c.ConnectedServerName()) }
	l, err := openLog(ctx, cluster.URLs(
		strings.Split(words[2], ","),
		nats.ConnectHandler(connected), nats.ReconnectHandler(connected),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { log.Info("disconnected", "err", err) }),
	), j, words[4])
	if err != nil {
		return unlessEnded(ctx, err)
	}
	defer l.Close()
	p := player{Child: c, file: log, addr: listener.Addr()}
	go func() { _ = http.Serve(listener, &p) }()
	for ctx.Err() == nil {
		g, o := newGame(workers, func(p audit.TickResult) { c.Logf("tick %d %d", p.Number, p.Digest) })
		if err := p.play(ctx, g, o, faulty(l, words[3])); err != nil {
			return err
		}
	}
	return nil
}

// openLog opens the log with a journal, which may be nil, and a folder of snapshots, or "".
func openLog(ctx context.Context, s cluster.Servers, j *journal.Journal, snapshots string) (*cluster.Log, error) {
	o := cluster.Options{Journal: j}
	if snapshots != "" {
		o.Snapshots = cluster.Folder(snapshots)
	}
	for {
		l, err := cluster.Open(ctx, s, cell, o)
		if err == nil || isPermanent(err) || ctx.Err() != nil {
			return l, err
		}
	}
}

// isPermanent reports whether an error of Open or Run means a damaged log or state.
func isPermanent(err error) bool {
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

// unlessEnded returns err unless the parent ended the node.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil && !isPermanent(err) {
		return nil
	}
	return err
}

type player struct {
	*process.Child
	file *slog.Logger
	addr net.Addr
	now  atomic.Pointer[playing] // nil: no world is open
}

type playing struct {
	*game.Game
	*world.World
}

// play opens the world and runs it until ctx ends or the servers fail.
func (p *player) play(ctx context.Context, g *game.Game, o world.Options, l world.Log) error {
	w, err := world.Open(ctx, g.Store, l, o)
	if err != nil {
		if isPermanent(err) {
			return err
		}
		p.Logf("wait %s", oneLine(err.Error()))
		p.file.Info("open", "err", err)
		time.Sleep(watchEvery)
		return nil
	}
	p.now.Store(&playing{g, w})
	defer p.now.Store(nil)
	p.Logf("open")
	p.Logf("listen %v", p.addr)
	go p.watch(ctx, w)
	p.file.Info("open", "status", w.Status())
	err = unlessEnded(ctx, w.Run(ctx))
	late, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if closing := w.Close(late); isPermanent(closing) {
		err = errors.Join(err, closing)
	}
	if err == nil {
		p.Logf("closed")
	}
	return err
}

func oneLine(text string) string { return strings.ReplaceAll(text, "\n", "; ") }

const watchEvery = 50 * time.Millisecond

// watch prints the state of the world until ctx ends, and logs changes.
func (p *player) watch(ctx context.Context, w *world.World) {
	var was world.Status
	for range time.Tick(watchEvery) {
		if ctx.Err() != nil {
			return
		}
		s := w.Status()
		if s.Leader != was.Leader || s.Term != was.Term || s.AppendErr != was.AppendErr || s.SaveErr != was.SaveErr || s.Halted != was.Halted {
			p.file.Info("world", "status", s, "append_max", s.AppendMax)
			if s.SaveErr != was.SaveErr {
				p.Logf("save %s", oneLine(s.SaveErr))
			}
			was = s
		}
		if s.Halted != "" {
			return
		}
		p.Logf("status %t %d %d %d", s.Leader, s.Term, s.Tick, s.LostAppends)
	}
}

// ServeHTTP makes the call of the key in the path.
func (p *player) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	key, err := strconv.ParseUint(strings.TrimPrefix(r.URL.Path, "/"), 10, 64)
	if err != nil {
		fmt.Fprint(out, err)
		return
	}
	fmt.Fprint(out, p.answer(key))
}

func (p *player) answer(key uint64) string {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	now := p.now.Load()
	if now == nil {
		return "no"
	}
	receipt, err := now.Submit(ctx, now.Leave(key))
	switch {
	case err == nil:
		return fmt.Sprint("ok ", receipt.Tick())
	case errors.Is(err, store.ErrUncertain), errors.Is(err, world.ErrTick):
		return "open"
	}
	return "no"
}
