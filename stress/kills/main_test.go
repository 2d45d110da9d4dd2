package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun_EndsWithTheVerdict(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args       string
		code       int
		start, end string // of the output
	}{
		{
			"-kills 3 -seed 4 " + dir, exitPassed, "go run ./stress/kills -kills 3 -seed 4 " + dir + "\n",
			"\nverdict: passed (exit code 0): kills 3: ticks lost 0, acknowledged and lost 0, applied twice 0, wrong digests 0\n",
		},
		{"-kills 1 -seed 4 " + file + "/log", exitLost, "", "not a directory\n"},
		{"-h", exitPassed, "Usage: go run ./stress/kills [", "SIGTERM.\n"},
		{"", exitBad, "kills: got [], want one DIR; see: go run ./stress/kills -h\n", ""},
		{"x y", exitBad, `kills: got ["x" "y"], want one DIR; `, ""},
		{"-- -x", exitBad, "kills: DIR: got -x, a flag, want ./-x; ", ""},
		{"-kills 0 x", exitBad, "kills: -kills: got 0, want 1 to 1000000; ", ""},
		{"-profile x", exitBad, "kills: flag provided but not defined: -profile; ", ""},
		{".", exitBad, "kills: . has files, want a new or empty folder; ", ""},
	} {
		var out bytes.Buffer
		code := run(t.Context(), strings.Fields(c.args), &out, &out)
		if text := out.String(); code != c.code || !strings.HasPrefix(text, c.start) || !strings.HasSuffix(text, c.end) {
			t.Errorf("%s: got exit code %d, want %d, %q and at the end %q:\n%s", c.args, code, c.code, c.start, c.end, text)
		}
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("a run that is refused has made its folder")
	}
}
