package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"handloom/internal/cli"
	"handloom/proof/browser"
)

func TestRun_PrintsHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-h"}, &stdout, &stderr); code != 0 || stdout.String() != usage || stderr.Len() > 0 {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	for line := range strings.SplitSeq(usage, "\n") {
		if len(line) > 90 {
			t.Errorf("a line of the help has %d characters: %s", len(line), line)
		}
	}
}

func TestRun_RefusesWrongUsageInOneLine(t *testing.T) {
	for _, args := range [][]string{{"-what"}, {"page"}, {"-addr", "nowhere:-1"}} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != exitBad || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%v: exit code %d: %q", args, code, stderr.String())
		}
	}
}

// prints calls a function with the first line that is written.
type prints func(line string)

func (p prints) Write(text []byte) (int, error) {
	p(string(text))
	return len(text), nil
}

func TestServe_EndsWithItsContext(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	var stderr bytes.Buffer
	code := run(ctx, []string{"-addr", "localhost:0"}, prints(func(line string) {
		if !strings.Contains(line, "http://127.0.0.1:") && !strings.Contains(line, "http://[::1]:") {
			t.Errorf("says %q", line)
		}
		end(cli.ErrTerminated)
	}), &stderr)
	if code != cli.ExitTerminated || stderr.Len() > 0 {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
}

// outside matches links to other hosts and code that the policy forbids.
var outside = regexp.MustCompile(`(?:src|href)="(?:[a-z]+:)?//|<script>|<style|style="| on[a-z]+="`)

func TestHandler_ServesAllFiles(t *testing.T) {
	files, err := build()
	noError(t, err)
	web := handler(files, func() (map[string][]byte, error) { return nil, nil })
	for name, text := range files {
		if found := outside.Find(text); found != nil && filepath.Ext(name) == ".html" {
			t.Errorf("%s has %s", name, found)
		}
		got := httptest.NewRecorder()
		web.ServeHTTP(got, httptest.NewRequest("GET", "/"+name, nil))
		if got.Code != 200 || !bytes.Equal(got.Body.Bytes(), text) || got.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %d, %v", name, got.Code, got.Header())
		}
	}
	for path, want := range map[string]int{"/": 200, "/none.html": 404, "/play.wasm": 404, "/../main.go": 404} {
		got := httptest.NewRecorder()
		web.ServeHTTP(got, httptest.NewRequest("GET", path, nil))
		if got.Code != want {
			t.Errorf("%s: %d, want %d", path, got.Code, want)
		}
	}
}

// The search needs only the keyboard.
func TestSearch_FindsSectionsByKeys(t *testing.T) {
	files, err := build()
	noError(t, err)
	web := httptest.NewServer(handler(files, nil))
	defer web.Close()
	b := browser.Open(t)
	b.Show(web.URL, 1280)
	b.Eval(`(() => {
		const key = (e, key) => e.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
		key(document.body, "/");
		document.activeElement.value = "name of a new";
		document.activeElement.dispatchEvent(new Event("input"));
		key(document.activeElement, "ArrowDown");
		key(document.activeElement, "Enter");
		return true;
	})()`, new(bool))
	b.Until(`location.hash === "#the-name-of-a-new-item"`)
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	noError(t, err)
	return b
}
