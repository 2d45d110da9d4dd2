package nemesis

import (
	"context"
	"errors"
	"log/slog"
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
	p := player{Child: c, file: log, log: l, mutant: words[3]}
	for ctx.Err() == nil {
		if err := p.play(ctx, workers); err != nil {
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
	file   *slog.Logger
	log    *cluster.Log
	mutant string
}

// play opens the world and runs it until ctx ends or the servers fail.
func (p *player) play(ctx context.Context, workers int) error {
	s, requests, o := newGame(workers, func(r audit.TickResult) { p.Logf("tick %d %d", r.Number, r.Digest) })
	w, err := world.Open(ctx, s, faulty(p.log, p.mutant), o)
	if err != nil {
		if isPermanent(err) {
			return err
		}
		p.Logf("wait %s", oneLine(err.Error()))
		p.file.Info("open", "err", err)
		time.Sleep(watchEvery)
		return nil
	}
	p.Logf("open")
	p.Logf("listen world")
	p.file.Info("open", "status", w.Status())
	running, stop := context.WithCancel(ctx)
	var serving sync.WaitGroup
	serving.Go(func() { p.watch(running, w) })
	serving.Go(func() {
		_ = p.log.Serve(running, w, func(ctx context.Context, c cluster.Call) (reply []byte, err error) {
			key, err := strconv.ParseUint(string(c.Body), 10, 64)
			if err == nil {
				key, err = requests.Submit(ctx, w, c.Key, key)
			}
			return strconv.AppendUint(nil, key, 10), err
		})
	})
	err = unlessEnded(ctx, w.Run(ctx))
	stop()
	late, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	closing := w.Close(late)
	serving.Wait()
	if isPermanent(closing) {
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
