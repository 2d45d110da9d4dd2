package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"handloom/cluster/cells"
	"handloom/internal/entry"
	"handloom/world"
)

// serveBank runs the bank of cell 1 until the returned function is called. change may replace serve.
func serveBank(t *testing.T, s Servers, o Options, serve func(ctx context.Context, c Call) ([]byte, error)) (l *Log, end func()) {
	t.Helper()
	l = OpenPatiently(t, s, 1, o).Log
	var b *bank
	w, err := Try(t.Context(), func() (*world.World, error) {
		b = newBank()
		return world.Open(t.Context(), b.store, l, b.options())
	})
	noError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = w.Run(ctx) })
	running.Go(func() {
		err := l.Serve(ctx, w, func(ctx context.Context, c Call) ([]byte, error) {
			if serve != nil && len(c.Body) > 0 && c.Body[0] != '{' {
				return serve(ctx, c)
			}
			return b.serve(ctx, w, c)
		})
		if !errors.Is(err, context.Canceled) && !errors.Is(err, ErrClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
	end = sync.OnceFunc(func() {
		stop()
		running.Wait()
		noError(t, CloseWorld(w))
		noError(t, l.Close())
	})
	t.Cleanup(end)
	return l, end
}

func dial(t *testing.T, s Servers) *Client {
	t.Helper()
	c, err := Dial(t.Context(), s)
	noError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

const transfer = `{"From": 0, "To": 1, "Amount": 1}`

func TestCall_ReportsErrors(t *testing.T) {
	t.Parallel()
	s, o := Embedded(t.TempDir()), Options{Snapshots: Folder(t.TempDir())}
	OpenPatiently(t, s, 2, o)
	serveBank(t, s, o, func(ctx context.Context, c Call) ([]byte, error) {
		switch string(c.Body) {
		case "panic":
			panic("no such thing")
		case "hang":
			<-ctx.Done()
		case "long":
			return make([]byte, 1<<20), nil
		}
		return nil, fmt.Errorf("body: got %q", c.Body)
	})
	c := dial(t, s)
	ended := dial(t, s)
	noError(t, ended.Close())
	for _, tt := range []struct {
		name   string
		client *Client
		cell   CellID
		body   string
		want   []error
		text   string
	}{
		{"answered", c, 1, transfer, nil, ""},
		{"no such cell", c, 77, transfer, []error{ErrNoCell}, "cell 000000000000004d: the cell does not exist: correct its ID, or Place it"},
		{"no leader", c, 2, transfer, []error{cells.ErrUnreachable, context.DeadlineExceeded}, "cell 0000000000000002: context deadline exceeded"},
		{"long body", c, 1, strings.Repeat("x", 1<<20), []error{nil}, "body: got 1048576 bytes, want at most 1047552"},
		{"long reply", c, 1, "long", []error{ErrRefused}, "reply: got 1048576 bytes, want at most 1047552"},
		{"error", c, 1, "nonsense", []error{ErrRefused}, `the cell refused the call: body: got "nonsense"`},
		{"panic", c, 1, "panic", []error{ErrRefused}, "serve: panic: no such thing"},
		{"lost reply", c, 1, "hang", []error{context.DeadlineExceeded}, "no reply yet: the call may count now or later; wait longer, or read the state"},
		{"closed client", ended, 1, transfer, []error{ErrClosed}, "closed"},
		{"after all", c, 1, transfer, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			limit := 10 * time.Second
			if tt.cell == 2 || tt.body == "hang" {
				limit = 300 * time.Millisecond
			}
			// An attempt that is under way when the context ends may count, so nothing else is known then. A
			// slow machine gets others.
			for late := Wait(t); ; {
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				reply, err := tt.client.Call(ctx, tt.cell, []byte(tt.body))
				cancel()
				good := tt.want != nil || string(reply) == "done" && err == nil
				for _, want := range tt.want {
					good = good && (want == nil || errors.Is(err, want)) && strings.Contains(fmt.Sprint(err), tt.text)
				}
				if good {
					break
				}
				if !isBusy(err) || late.Err() != nil {
					t.Fatalf("got %q, %v, want %v with %q", reply, err, tt.want, tt.text)
				}
			}
		})
	}
}

// A client with a wrong clock is not refused, and an old call is.
func TestCall_AdjustsClock(t *testing.T) {
	t.Parallel()
	s := Embedded(t.TempDir())
	serveBank(t, s, Options{Snapshots: Folder(t.TempDir())}, nil)
	c := dial(t, s)
	for _, off := range []time.Duration{-48 * time.Hour, 48 * time.Hour, 0} {
		reply, err := []byte(nil), world.ErrExpired
		for late := Wait(t); errors.Is(err, world.ErrExpired) && late.Err() == nil; { // after a late answer the first attempt may count
			c.noteTime(1, time.Now().Add(off).UnixNano())
			reply, err = c.Call(t.Context(), 1, []byte(transfer))
		}
		if string(reply) != "done" || err != nil {
			t.Errorf("clock off by %v: got %q, %v", off, reply, err)
		}
	}
	old := entry.CallKey(time.Now().Add(-2*time.Hour).UnixNano(), "a")
	for late, sent := Wait(t), 0; sent != 1; { // more after a late answer
		var err error
		if _, sent, err = c.call(t.Context(), 1, old, []byte(transfer)); !errors.Is(err, world.ErrExpired) || late.Err() != nil {
			t.Fatalf("old call: got %d, %v, want %v", sent, err, world.ErrExpired)
		}
	}
	if b, err := c.Call(t.Context(), 1, nil); err != nil || !bytes.Contains(b, []byte(`{"Balance":97}`)) {
		t.Errorf("balances: got %s, %v, want 3 transfers", b, err)
	}
}

// Repetitions of a running call share its reply.
func TestServe_RunsCallOnce(t *testing.T) {
	t.Parallel()
	s := Embedded(t.TempDir())
	var runs atomic.Int32
	release := make(chan struct{})
	serveBank(t, s, Options{Snapshots: Folder(t.TempDir())}, func(context.Context, Call) ([]byte, error) {
		runs.Add(1)
		<-release
		return []byte("once"), nil
	})
	c := dial(t, s)
	if _, err := c.Call(t.Context(), 1, []byte(transfer)); err != nil { // the world leads
		t.Fatal(err)
	}
	if _, err := Try(t.Context(), func() ([]byte, error) { return c.request(t.Context(), 1, "", []byte("wait"), time.Minute) }); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "Handloom-Key: got none") {
		t.Errorf("call without a key: got %v", err)
	}
	key := c.newKey(1)
	for begun := 0; begun < 3; begun += int(runs.Load()) { // two repetitions or more of a call that runs
		if _, err := c.request(t.Context(), 1, key, []byte("wait"), 10*time.Millisecond); !isBusy(err) {
			t.Fatal(err)
		}
	}
	if n := runs.Load(); n != 1 {
		t.Errorf("a call of which repetitions arrive: got %d runs, want 1", n)
	}
	close(release)
	if reply, _, err := c.call(t.Context(), 1, key, []byte("wait")); string(reply) != "once" || err != nil {
		t.Errorf("got %q, %v", reply, err)
	}
}
