package nemesis

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
	"handloom/store"
	"handloom/world"
)

const cell cluster.CellID = 1

// node runs the world and serves clients. words are: folder, workers, Hz, server URLs, fault or
// none, [apart] or another word, folder of snapshots or none.
func (c child) node(ctx context.Context, words []string, calls io.Reader, game NewGame) error {
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
	go p.serve(calls)
	for ctx.Err() == nil {
		g, err := game(workers)
		if err != nil {
			return err
		}
		if err := p.play(ctx, g, g.options(hz, c.notify), faulty(l, words[4])); err != nil {
			return err
		}
	}
	return nil
}

// apart makes a node prefer the server with its number, and move the stream leader off it while
// the node owns the log. So one machine never has both.
const apart = "apart"

func openLog(ctx context.Context, s cluster.Servers, o cluster.Options) (*cluster.Log, error) {
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

// ended returns err unless the parent ended the node.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && !isPermanent(err) {
		return nil
	}
	return err
}

type player struct {
	child
	file  *slog.Logger
	log   *cluster.Log
	apart bool
	now   atomic.Pointer[playing] // nil: no world is open
}

type playing struct {
	*Game
	*world.World
}

// play opens the world and runs it until ctx ends or the servers fail.
func (p *player) play(ctx context.Context, g *Game, o world.Options, l world.Log) error {
	w, err := world.Open(ctx, g.Store, l, o)
	if err != nil {
		// With apart, the node's server may lag after its start: the log looks corrupt. The
		// auditor finds a corrupt log.
		if !isPermanent(err) || p.apart && errors.Is(err, world.ErrCorrupt) {
			p.Logf("wait %s", strings.ReplaceAll(err.Error(), "\n", "; "))
			p.file.Info("open", "err", err)
			time.Sleep(watchEvery)
			return nil
		}
		return err
	}
	p.now.Store(&playing{g, w})
	defer p.now.Store(nil)
	p.Logf("open")
	go p.watch(ctx, w)
	if p.apart {
		go p.keepApart(ctx, w)
	}
	p.file.Info("open", "status", w.Status())
	err = w.Run(ctx)
	late, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	closing := w.Close(late)
	if err == nil || ctx.Err() != nil && !isPermanent(err) {
		err = nil
	}
	if closing != nil && !isPermanent(closing) {
		closing = nil
	}
	if err == nil && closing == nil {
		p.Logf("closed")
	}
	return errors.Join(err, closing)
}

// notify prints a tick.
func (c child) notify(p audit.TickResult) {
	what := "tick"
	if p.Replay {
		what = "replay"
	}
	c.Logf("%s %d %d", what, p.Number, p.Digest)
}

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
				p.Logf("save %s", strings.ReplaceAll(s.SaveErr, "\n", "; "))
			}
			was = s
		}
		if s.Halted != "" {
			return
		}
		p.Logf("status %t %d %d %d", s.Leader, s.Term, s.Tick, s.LostAppends)
	}
}

// keepApart moves the stream leader off this node's server while this node is the owner.
// Leaders change, so it repeats this every second.
func (p *player) keepApart(ctx context.Context, w *world.World) {
	for range time.Tick(time.Second) {
		if ctx.Err() != nil {
			return
		}
		if w.Status().Leader {
			_, _ = p.log.StepDown(ctx)
		}
	}
}

// serve answers requests, each a number and a line.
func (p *player) serve(requests io.Reader) {
	for lines := bufio.NewScanner(requests); lines.Scan(); {
		number, line, _ := strings.Cut(lines.Text(), " ")
		go func() { p.Logf("answer %s %s", number, p.answer(line)) }()
	}
}

const callTime = time.Second

// viewLine is the request for the view.
const viewLine = "view"

// answer answers a line: [viewLine], or the key and text of a call.
func (p *player) answer(line string) string {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	now := p.now.Load()
	if line == viewLine && now != nil {
		return now.view(ctx)
	}
	key, text, _ := strings.Cut(line, " ")
	if now == nil {
		return "no " + key
	}
	number, err := strconv.ParseUint(key, 10, 64)
	if err != nil {
		return "bad key: " + key
	}
	call, err := now.Call(number, text)
	if err != nil {
		return "bad call: " + err.Error()
	}
	receipt, err := now.Submit(ctx, call)
	switch {
	case err == nil:
		return fmt.Sprint("ok ", key, " ", receipt.Tick())
	case errors.Is(err, store.ErrUncertain), errors.Is(err, world.ErrTick):
		return "open " + key
	}
	return "no " + key
}

func (p *playing) view(ctx context.Context) string {
	var view any
	err := p.Read(ctx, func(context.Context, world.Tick) error {
		view = p.View()
		return nil
	})
	if b, failed := json.Marshal(view); err == nil && failed == nil {
		return string(b)
	}
	return "null"
}
