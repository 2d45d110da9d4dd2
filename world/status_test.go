package world_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"handloom/internal/hook"
	kit "handloom/proof/game"
	"handloom/store"
	"handloom/world"
)

func TestStatus_HasTextAndJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		w, v := mustOpen(t, newGame(t, store.Options{}), l), mustOpen(t, newGame(t, store.Options{}), l)
		for range 10 {
			steps(t, w, 1)
			time.Sleep(time.Millisecond)
			steps(t, v, 1)
		}
		synctest.Wait()
		leads, follows := w.Status(), v.Status()
		failIf(t, !leads.Leader || leads.Tick != 10 || leads.Position != 11 || leads.SavedTick != 7 || leads.Lag != 0, "%+v", leads)
		failIf(t, follows.Leader || follows.Tick != 10 || follows.Lag != time.Millisecond, "%+v", follows)
		for w, s := range map[*world.World]world.Status{w: leads, v: follows} {
			equal(t, "at a glance", hook.Glance(w), hook.State{Leader: s.Leader, Waits: s.Waits, ClockOff: s.ClockOff})
		}
		line := "leads: term 1, tick 10, record 11, lag 0s; appends p99 0s; snapshot of tick 7, 4ms ago"
		equal(t, "String", leads.String(), line)
		b, err := json.Marshal(follows)
		var back world.Status
		noError(t, json.Unmarshal(b, &back))
		equal(t, "status from JSON", back, follows)
		noError(t, err)
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Info("world", "status", follows)
		want := "status.leader=false status.term=1 status.tick=10"
		failIf(t, !strings.Contains(log.String(), want), "it is logged as %s", log.String())
		mustClose(t, w, v)
	})
}

func TestRead_ShowsWholeTicks(t *testing.T) {
	g, w := newWorld(t, store.Options{}, world.Memory())
	ctx, cancel := context.WithCancel(context.Background())
	read := make(chan struct{})
	go func() {
		defer close(read)
		for ctx.Err() == nil {
			err := w.Read(ctx, func(ctx context.Context, tick world.Tick) error {
				d, err := g.Digest(ctx)
				g.mutex.Lock()
				defer g.mutex.Unlock()
				want, ok := g.digests[tick.Number]
				failIf(t, err == nil && ok && want != d, "a reader of tick %d sees another state", tick.Number)
				return err
			})
			if err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	}()
	steps(t, w, 50)
	cancel()
	<-read
	mustClose(t, w)
}

func TestRun_KeepsTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGame(t, alone)
		r := run(t, g, world.Memory())
		time.Sleep(10*time.Second + time.Millisecond)
		failIf(t, errorOf(r.Step(t.Context())) == nil, "Step while Run runs")
		r.end(t)
		wantTicks(t, g, 601)
		seeds := make(map[uint64]bool)
		for i, o := range g.seen {
			failIf(t, !o.Leader || o.Replay || seeds[o.Seed] || i > 0 && !o.Time.After(g.seen[i-1].Time), "tick %d: %+v", i+1, o)
			seeds[o.Seed] = true
		}
	})
}

func TestApplied_GetsEveryTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		g, w := newWorld(t, store.Options{}, l)
		steps(t, w, 3)
		crash(t, w)
		h, v := newWorld(t, store.Options{}, l)
		steps(t, v, 1)
		for i, o := range h.seen {
			failIf(t, o.Number != uint64(i+1) || o.Replay != (i < 3) || o.Leader != (i == 3), "%+v", o)
			if i < 3 {
				equal(t, "replayed tick", o.Tick, g.seen[i].Tick)
			}
		}
		equal(t, "ticks", len(h.seen), 4)
		mustClose(t, v)
	})
}

func TestStatus_NamesTornTail(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	j := openJournal(t, dir)
	w := mustOpen(t, newGame(t, store.Options{}), j)
	steps(t, w, 3)
	equal(t, "torn tail of a whole journal", w.Status().Cut, "")
	at := w.Status().Position
	crash(t, w)
	mustCloseJournal(t, j)
	noError(t, kit.TearJournal(dir))

	j = openJournal(t, dir)
	w = mustOpen(t, newGame(t, store.Options{}), j)
	s := w.Status()
	cut, ok := j.Truncated()
	if want := fmt.Sprintf("record %d: at most %d cut", cut.At, cut.Records); !ok || cut.At != at || !strings.HasPrefix(s.Cut, want) {
		t.Errorf("cut %q, want %q...; the journal: %+v", s.Cut, want, cut)
	}
	failIf(t, !strings.Contains(s.String(), "; "+s.Cut), "String %q lacks %q", s, s.Cut)
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("world", "status", s)
	failIf(t, !strings.Contains(log.String(), fmt.Sprintf("status.cut=%q", s.Cut)), "logged as %s", log.String())
	mustClose(t, w)
	mustCloseJournal(t, j)

	j = openJournal(t, dir)
	w = mustOpen(t, newGame(t, store.Options{}), j)
	equal(t, "torn tail after another Open", w.Status().Cut, "")
	mustClose(t, w)
}
