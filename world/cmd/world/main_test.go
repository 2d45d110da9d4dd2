package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type outcome struct {
	code           int
	stdout, stderr string
}

func call(t *testing.T, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// lastLine returns the verdict of info.
func (o outcome) lastLine() string {
	lines := strings.Split(strings.TrimSuffix(o.stdout, "\n"), "\n")
	return lines[len(lines)-1]
}

func (o outcome) want(t *testing.T, code int, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if found := strings.Contains(o.stdout+o.stderr, text); o.code != code || !found || strings.HasPrefix(text, "verdict: ") && !strings.HasPrefix(o.lastLine(), text) {
			t.Fatalf("got exit code %d, want %d and %q:\n%s%s", o.code, code, text, o.stdout, o.stderr)
		}
	}
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	noError(t, err)
	return b
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	noError(t, os.WriteFile(path, b, 0o600))
}

// content returns the files of a folder by name.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	noError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[path] = string(readFile(t, path))
		}
		return err
	}))
	return files
}

func wantUnchanged(t *testing.T, dir string, before map[string]string) {
	t.Helper()
	if after := content(t, dir); !maps.Equal(after, before) {
		t.Errorf("%s has changed: got %d files, want %d", dir, len(after), len(before))
	}
}

func TestHelp_ExplainsCommands(t *testing.T) {
	for _, args := range []string{"-h", "info -h", "repair -h", "repair x -h", "skip-input -h"} {
		o := call(t, strings.Fields(args)...)
		o.want(t, 0, "Usage: go run handloom/world/cmd/world ", "Exit codes: 0")
		for line := range strings.SplitSeq(o.stdout, "\n") {
			if len(line) > 92 {
				t.Errorf("%s: a line has %d characters: %s", args, len(line), line)
			}
		}
	}
}

func TestWrongUsage_IsOneLine(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "world: want a command; see: go run handloom/world/cmd/world -h"},
		{"inspect x", `world: got command "inspect", want info, copy, repair or skip-input; see: go run handloom/world/cmd/world -h`},
		{"info", "world info: want one FILE or DIR, got 0; see: go run handloom/world/cmd/world info -h"},
		{"info a b", "world info: want one FILE or DIR, got 2; see: go run handloom/world/cmd/world info -h"},
		{"info none", "world info: stat none: no such file or directory"},
		{"info help", "world info: help: there is no journal in it"},
		{"info -x none", "world info: flag provided but not defined: -x; see: go run handloom/world/cmd/world info -h"},
		{"repair", "world repair: want one DIR, got 0; see: go run handloom/world/cmd/world repair -h"},
		{"repair a -from x", `world repair: invalid value "x" for flag -from: parse error; see: go run handloom/world/cmd/world repair -h`},
		{"repair a -from 1 -from 2", `world repair: invalid value "2" for flag -from: the flag is given twice; see: go run handloom/world/cmd/world repair -h`},
		{"repair none", "no such file or directory"},
		{"repair help", "world repair: help: got no damage, want -from RECORD"},
		{"skip-input help", "world skip-input: want -tick TICK, the number in the error of the failed tick; see: go run handloom/world/cmd/world skip-input -h"},
		{"skip-input -tick 1", "world skip-input: want one DIR, got 0; see: go run handloom/world/cmd/world skip-input -h"},
		{"skip-input none -tick 1", "no such file or directory"},
		{"skip-input help -tick 1", "world skip-input: journal: open help: no segments: file does not exist"},
	} {
		o := call(t, strings.Fields(c.args)...)
		if o.code != exitRefused || o.stdout != "" || !strings.Contains(o.stderr, c.want) || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%s: got exit code %d\n%s%swant %s", c.args, o.code, o.stdout, o.stderr, c.want)
		}
	}
}

func TestRepair_EndsJournalBeforeDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	j, err := journal.Open(dir, journal.Options{SegmentBytes: 1 << 10})
	noError(t, err)
	for at := range uint64(40) {
		_, err := j.Append(t.Context(), at, bytes.Repeat([]byte{byte(at)}, 100))
		noError(t, err)
	}
	noError(t, j.Close())
	call(t, "repair", dir).want(t, 2, "got no damage, want -from RECORD")
	call(t, "repair", dir, "-from", "99").want(t, 2, "-from: got 99, want at most 40, the last record")
	path := filepath.Join(dir, "0000000000000001.log")
	b := readFile(t, path)
	b[len(b)/2] ^= 1
	writeFile(t, path, b)
	call(t, "info", dir).want(t, exitDamaged, "verdict: damaged")

	before := content(t, dir)
	call(t, "repair", dir, "-from", "5", "-write").want(t, 2, "-from: got 5, want at most 4, the first damaged record")
	plan := call(t, "repair", dir)
	plan.want(t, 0, "damage: journal: corrupt: 0000000000000001.log, record 4,", "the journal ends before record 4; the last readable one is 3",
		"cut, after a copy: 0000000000000001.log", "moved: 0000000000000008.log", "dry run: nothing has changed")
	wantUnchanged(t, dir, before)
	done := call(t, "repair", dir, "-write")
	done.want(t, 0, "done; the moved files are in "+dir)
	for line := range strings.Lines(plan.stdout) { // the plan is kept
		name, isMoved := strings.CutPrefix(strings.TrimSpace(line), "moved: ")
		if _, err := os.Stat(filepath.Join(dir, name)); isMoved && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v, want it moved", name, err)
		}
	}
	call(t, "info", dir).want(t, 0, "records 1 to 3", "verdict: whole")

	j, err = journal.Open(dir, journal.Options{SegmentBytes: 1 << 10})
	noError(t, err)
	call(t, "repair", dir, "-from", "2", "-write").want(t, 2, "journal: the folder is open elsewhere")
	tail, err := j.Tail(t.Context())
	noError(t, errors.Join(err, j.Close()))
	if tail != 3 {
		t.Errorf("got %d records, want 3", tail)
	}
}

// openFragile opens a world whose tick fails with input -1.
func openFragile(t *testing.T, dir string) (*world.World, *store.Table[int64], *journal.Journal, error) {
	t.Helper()
	s := store.New(store.Options{})
	numbers := store.Register(s, store.TableOptions[int64]{Name: "number"})
	j, err := journal.Open(dir, journal.Options{})
	noError(t, err)
	w, err := world.Open(t.Context(), s, j, world.Options{Version: "fragile", Tick: func(ctx context.Context, _ *store.Writer, _ world.Tick) error {
		_, err := s.Flush(ctx)
		for _, n := range numbers.All() {
			if *n < 0 {
				return errors.New("negative")
			}
		}
		return err
	}})
	return w, numbers, j, err
}

func TestSkipInput_LetsFailedTickRunWithout(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	w, numbers, j, err := openFragile(t, dir)
	noError(t, err)
	running, failed := make(chan error), make(chan error)
	go func() { running <- w.Run(context.Background()) }()
	submit := func(n int64) error {
		_, err := w.Submit(context.Background(), func(q store.Queue) error { numbers.Emplace(q, n); return nil })
		return err
	}
	noError(t, submit(7))
	go func() { failed <- submit(-1) }()
	var halted *world.TickError
	if err := <-running; !errors.As(err, &halted) || !errors.Is(<-failed, world.ErrTick) {
		t.Fatalf("got %v, want a TickError", err)
	}
	tick := []string{"skip-input", dir, "-tick", fmt.Sprint(halted.Tick)}
	call(t, append(tick, "-write")...).want(t, 2, "journal: the folder is open elsewhere")
	noError(t, errors.Join(w.Close(context.Background()), j.Close()))
	_, _, j, err = openFragile(t, dir)
	if !errors.Is(err, world.ErrTick) {
		t.Fatalf("got %v, want ErrTick", err)
	}
	noError(t, j.Close())

	before := content(t, dir)
	call(t, "skip-input", dir, "-tick", "99999").want(t, 2, "want tick 99999")
	call(t, tick...).want(t, 0, " B of input", "dry run: nothing has changed")
	wantUnchanged(t, dir, before)
	call(t, append(tick, "-write")...).want(t, 0, "done: record ")
	for _, again := range [][]string{tick, append(tick, "-write")} {
		call(t, again...).want(t, 0, "already skips the input of tick")
	}
	w, numbers, j, err = openFragile(t, dir)
	noError(t, err)
	if numbers.Len() != 1 {
		t.Errorf("got %d numbers, want the first", numbers.Len())
	}
	noError(t, errors.Join(w.Close(context.Background()), j.Close()))
	call(t, "info", dir).want(t, 0, "skip 1")
}

func TestCopy_OfOpenFolder(t *testing.T) {
	dir, to := t.TempDir(), t.TempDir()
	j, err := journal.Open(dir, journal.Options{})
	noError(t, err)
	_, err = j.Append(t.Context(), 0, []byte("record"))
	noError(t, err)
	call(t, "copy", dir).want(t, exitRefused, "want DIR and TO")
	call(t, "copy", filepath.Join(dir, "none"), to).want(t, exitRefused, "no such file")
	call(t, "copy", dir, to).want(t, 0, "copied to "+to)
	call(t, "copy", dir, to).want(t, exitRefused, "want none")
	noError(t, j.Close())
	copied, err := journal.Open(to, journal.Options{})
	noError(t, err)
	if at, err := copied.Tail(t.Context()); at != 1 || err != nil {
		t.Errorf("the copy ends with record %d, %v", at, err)
	}
	noError(t, copied.Close())
}
