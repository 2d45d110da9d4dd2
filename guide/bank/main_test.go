package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"handloom/proof/process"
	"handloom/store"
	"handloom/world"
)

const childCommand = "bank-child"

// A child with childCommand, a folder and an address serves until its standard input ends.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == childCommand {
		os.Exit(process.Serve(os.Stdin, os.Stdout, func(ctx context.Context, _ *process.Child) error {
			return run(ctx, os.Args[2], os.Args[3])
		}))
	}
	goleak.VerifyTestMain(m)
}

func TestProgram_HasAtMost100Lines(t *testing.T) {
	text, err := os.ReadFile("main.go")
	noError(t, err)
	lines := 0
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines++
		}
	}
	if t.Logf("%d lines", lines); lines > 100 {
		t.Errorf("lines without blanks and comments: got %d, want at most 100", lines)
	}
}

func TestBank_Answers(t *testing.T) {
	b := newServer(t)
	b.start()
	for _, c := range []struct {
		request, answer string
		status          int
	}{
		{"GET /account/ada", "no such account", 200},
		{"PUT /account/ada", "open", 200},
		{"PUT /account/bob", "open", 200},
		{"PUT /account/ada", "taken", 409},
		{"PUT /transfer/1?from=ada&to=bob&amount=70", "done", 200},
		{"PUT /transfer/2?from=ada&to=bob&amount=70", "not enough money", 200},
		{"PUT /transfer/1?from=ada&to=bob&amount=70", "done", 200},
		{"PUT /transfer/1?from=ada&to=bob&amount=7", "taken", 409},
		{"PUT /transfer/3?from=ada&to=eve&amount=1", "no such account or amount", 200},
		{"PUT /transfer/4?from=eve&to=ada&amount=1", "no such account or amount", 200},
		{"PUT /transfer/5?from=ada&to=bob&amount=-1", "no such account or amount", 200},
		{"PUT /transfer/6?from=ada&to=bob&amount=much", "no such account or amount", 200},
		{"PUT /transfer/7?from=ada&to=bob&amount=99999999999999999999", "not enough money", 200},
		{"PUT /transfer/8?from=bob&to=bob&amount=170", "done", 200},
		{"PUT /transfer/9?from=bob&to=ada&amount=80", "done", 200},
		{"PUT /transfer/2?from=ada&to=bob&amount=70", "not enough money", 200},
		{"GET /account/ada", "110", 200},
		{"GET /account/bob", "90", 200},
		{"DELETE /account/bob", "Method Not Allowed", 405},
	} {
		method, path, _ := strings.Cut(c.request, " ")
		if status, answer, err := b.request(method, path); status != c.status || answer != c.answer || err != nil {
			t.Errorf("%s: got %d %q, %v, want %d %q", c.request, status, answer, err, c.status, c.answer)
		}
	}
	noError(t, b.child.End())
}

func TestHandler_StatusNamesOutcome(t *testing.T) {
	for status, errs := range map[int][]error{
		http.StatusOK:                 {nil},
		http.StatusConflict:           {store.ErrDuplicate},
		http.StatusGatewayTimeout:     {store.ErrUncertain, world.ErrTick, errors.Join(world.ErrTick, store.ErrDuplicate)},
		http.StatusServiceUnavailable: {store.ErrFull, store.ErrQueueFull, store.ErrClosed, world.ErrNotLeader, io.EOF},
	} {
		for _, err := range errs {
			got := httptest.NewRecorder()
			handler(func(*http.Request) (string, error) { return "done", err }).ServeHTTP(got, nil)
			if isDone := strings.TrimSpace(got.Body.String()) == "done"; got.Code != status || isDone != (err == nil) {
				t.Errorf("%v: got %d %q, want %d", err, got.Code, got.Body, status)
			}
		}
	}
}

func TestRun_ReturnsErrors(t *testing.T) {
	file := t.TempDir() + "/file"
	noError(t, os.WriteFile(file, nil, 0o600))
	for _, c := range []struct{ folder, addr string }{{file, "localhost:0"}, {t.TempDir(), "nowhere:-1"}} {
		if err := run(t.Context(), c.folder, c.addr); err == nil {
			t.Errorf("%+v: got no error", c)
		}
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
