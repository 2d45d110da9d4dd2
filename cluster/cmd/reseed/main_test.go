package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/goleak"

	"handloom/cluster"
	"handloom/cluster/internal/localnet"
	"handloom/cluster/internal/rights"
	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

func TestMain(m *testing.M) {
	os.Exit(localnet.RunTests(m, func() error { return goleak.Find() }))
}

func want(t *testing.T, args []string, exit int, text string) {
	t.Helper()
	var out, failed bytes.Buffer
	got := run(t.Context(), args, &out, &failed)
	for late := time.Now().Add(2 * time.Minute); strings.Contains(failed.String(), "deadline exceeded") && time.Now().Before(late); { // a busy machine
		out.Reset()
		failed.Reset()
		got = run(t.Context(), args, &out, &failed)
	}
	if all := out.String() + failed.String(); got != exit || !strings.Contains(all, text) || exit == 0 && failed.Len() > 0 {
		t.Errorf("reseed %q: exit %d, %s want %d and %q", args, got, all, exit, text)
	}
}

func noError(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestReseed_RefusesBadInput(t *testing.T) {
	dir := t.TempDir()
	base := func(more ...string) []string {
		return append([]string{"-servers", "nats://127.0.0.1:1", "-cell", "1"}, more...)
	}
	text := filepath.Join(dir, "text")
	noError(t, os.WriteFile(text, []byte("no snapshot"), 0o600))
	missing := filepath.Join(dir, "missing")
	want(t, []string{"-h"}, 0, "Usage: go run handloom/cluster/cmd/reseed")
	for _, test := range []struct {
		args []string
		text string
	}{
		{nil, "-servers: got none"},
		{[]string{"-servers", "x"}, "-cell: got none"},
		{base(), "-journal, -state: got none"},
		{base("-journal", dir, "more"), `got ["more"], want none`},
		{base("-cell", "x"), "given twice"},
		{[]string{"-servers", "x", "-cell", "010"}, `got "010", want a number without leading zeros`},
		{base("-journal", missing), "no such file"},
		{base("-state", missing), "no such file"},
		{base("-state", text), "corrupt"},
		{base("-state", text, "-files", dir), "ca.pem: no such file"},
		{base("-state", text, "-replicas", "2"), "want 1, 3 or 5"},
	} {
		want(t, test.args, exitRefused, test.text)
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a missing journal was created")
	}
}

func TestParseCell_HasOneMeaning(t *testing.T) {
	for text, want := range map[string]cluster.CellID{
		"8": 8, "10": 10, "0000000000000010": 16, "00000000000000ff": 255, "18446744073709551615": 1<<64 - 1,
		"": 0, "0": 0, "010": 0, "0x10": 0, "1_0": 0, "+8": 0, " 8": 0, "ff": 0, "00000000000000FF": 0,
		"0000000000000000": 0, "00000000000000010": 0, "18446744073709551616": 0,
	} {
		if got, err := parseCell(text); got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestReseed_RestoresCellOfEmptyServer(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	config, disk := filepath.Join(dir, "config"), filepath.Join(dir, "disk")
	files := filepath.Join(config, "program")
	_, err := rights.Write(rights.Options{Servers: []string{"127.0.0.1"}, Dir: config, Data: disk})
	noError(t, err)
	c, err := localnet.Start(ctx, dir, 1, func(_ int, o *server.Options) {
		conf, err := server.ProcessConfigFile(filepath.Join(config, "server-1", "server.conf"))
		noError(t, err)
		conf.Host, conf.Port, conf.HTTPPort, conf.ClientAdvertise, conf.NoLog, conf.NoSigs = o.Host, o.Port, 0, "", true, true
		*o = *conf
	})
	noError(t, err)
	defer c.Close()
	credentials, err := (&command{files: files}).connection()
	noError(t, err)
	folder, state := filepath.Join(dir, "journal"), filepath.Join(dir, "state")
	j, err := journal.Open(folder, journal.Options{})
	noError(t, err)
	s := cluster.URLs(c.URLs(0), credentials...)
	l, w := play(t, s, cluster.Options{Replicas: 1, Journal: j})
	c.Stop(0)
	f, err := os.Create(state)
	noError(t, err, w.Export(ctx, f), f.Close())
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := w.Close(ended); errors.Is(err, context.Canceled) {
		noError(t, w.Close(ctx)) // waits for the end
	}
	noError(t, l.Close(), os.RemoveAll(disk), c.Restart(0), c.Ready(ctx))

	args := []string{"-servers", c.URL(0), "-files", files, "-cell", "1", "-replicas", "1", "-journal", folder}
	want(t, append(args, "-state", state, "-write"), exitRefused, "open elsewhere")
	noError(t, j.Close())
	refuseCredentials(t, args, files)
	want(t, args, exitRefused, "want a snapshot")
	for range 2 {
		want(t, append(args, "-state", state), 0, "create stream HANDLOOM-0000000000000001 with records 1 to ")
		want(t, append(args, "-state", state), 0, "dry run: nothing has changed")
	}
	want(t, append(args, "-state", state, "-write"), 0, "done: stream HANDLOOM-0000000000000001 ")
	want(t, append(args, "-state", state), exitRefused, "the stream has all")
	l, again := play(t, s, cluster.Options{Replicas: 1})
	if got, before := again.Status().Tick, w.Status().Tick; got <= before {
		t.Errorf("tick %d follows tick %d", got, before)
	}
	if err := again.Close(ctx); !errors.Is(err, context.DeadlineExceeded) { // a busy machine
		noError(t, err)
	}
	noError(t, l.Close())
}

// refuseCredentials checks that an authority that the servers do not know is an error.
func refuseCredentials(t *testing.T, args []string, files string) {
	t.Helper()
	cert, err := os.ReadFile(filepath.Join(files, "node.pem"))
	noError(t, err)
	dir := t.TempDir()
	noError(t, os.CopyFS(dir, os.DirFS(files)), os.WriteFile(filepath.Join(dir, "ca.pem"), cert, 0o600))
	other := slices.Clone(args)
	other[slices.Index(other, files)] = dir
	want(t, other, exitRefused, "failed to verify certificate")
}

// play opens a log and a world, and runs ticks until one that it leads. It repeats all that on a busy
// machine.
func play(t *testing.T, servers cluster.Servers, o cluster.Options) (l *cluster.Log, w *world.World) {
	t.Helper()
	for late := time.Now().Add(2 * time.Minute); ; {
		err := func() (err error) {
			if l, err = cluster.Open(t.Context(), servers, 1, o); err != nil {
				return err
			}
			s := store.New(store.Options{Workers: 1})
			store.Register(s, store.TableOptions[int64]{Name: "n"})
			w, err = world.Open(t.Context(), s, l, world.Options{Version: "v", Hz: 60, Tick: func(ctx context.Context, _ *store.Writer, _ world.Tick) error {
				_, err := s.Flush(ctx)
				return err
			}})
			for leads := false; err == nil && !leads; {
				leads = w.Status().Leader
				_, err = w.Step(t.Context())
			}
			if err != nil {
				if w != nil {
					_ = w.Close(t.Context())
				}
				return errors.Join(err, l.Close())
			}
			return nil
		}()
		if err == nil {
			return l, w
		}
		if !errors.Is(err, context.DeadlineExceeded) || time.Now().After(late) {
			t.Fatal(err)
		}
	}
}
