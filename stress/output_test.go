package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handloom/internal/cli"
	"handloom/internal/trace"
)

func TestReplay_PageShowsEveryNumberOfWorkers(t *testing.T) {
	for verdict, fault := range map[string]fault{
		`<p class="verdict good">verdict: verified (exit code 0): `: nil,
		`<p class="verdict bad">verdict: mismatch (exit code 10): `: func(workers, tick int, _ trace.Event) bool { return workers == 2 && tick == 2 },
	} {
		p := command{stdin: bytes.NewReader(lines(someTicks)), fault: fault}
		got, text := p.page(t.Context(), t, "replay", "-", "-workers", "1,2")
		first, _, _ := strings.Cut(got.stdout, "\n")
		for _, want := range []string{
			verdict, "<h1>replay of stdin</h1>", first, "workers 1</th>", "workers 2</th>", "Speed, in events per second</title>", "<dt>shards of each table</dt><dd>1</dd>",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not on the page\n%s", want, text)
			}
		}
		if failures := strings.Contains(text, "<h2>Failures"); failures != (fault != nil) {
			t.Errorf("that there are failures is %v on the page\n%s", failures, text)
		}
	}
}

func TestOutput_FullDiskIsExitCode2(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no device that is full")
	}
	for args, want := range map[string]string{
		"replay - -html /dev/full":         "verdict: failed (exit code 2): -html could not be written; the outcome was verified",
		"-seed 1 -seeds 1 -html /dev/full": "verdict: failed (exit code 2): -html could not be written; the outcome was passed: programs 1",
	} {
		p := command{stdin: bytes.NewReader(lines(someTicks))}
		p.stress(t.Context(), strings.Fields(args)...).want(t, exitBad, "no space left", want)
	}
}

func TestOutput_KeepsSymlinkAndMode(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	writeFile(t, file, []byte("old"))
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	noError(t, cli.WriteFile(link, []byte("new")))
	text := readFile(t, file)
	info, errInfo := os.Lstat(link)
	mode, errMode := os.Stat(file)
	if errInfo != nil || errMode != nil || string(text) != "new" || info.Mode()&os.ModeSymlink == 0 || mode.Mode().Perm() != 0o600 {
		t.Errorf("%q, %v, %v; %v, %v", text, info, mode, errInfo, errMode)
	}
}
