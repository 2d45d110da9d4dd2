package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	const runner = "handloom/proof/runner." // of a program that hangs, and of one that leaks
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction(runner+"Play"), goleak.IgnoreAnyFunction(runner+"stray"))
}

type outcomeOf struct {
	code           int
	stdout, stderr string
}

func (o outcomeOf) lastLine() string {
	lines := strings.Split(strings.TrimSuffix(o.stdout, "\n"), "\n")
	return lines[len(lines)-1]
}

// Verdicts are at the start of the last line.
func (o outcomeOf) want(t *testing.T, code int, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if found := strings.Contains(o.stdout+o.stderr, text); o.code != code || !found || strings.HasPrefix(text, "verdict: ") && !strings.HasPrefix(o.lastLine(), text) {
			t.Fatalf("got exit code %d, want %d and %q:\n%s%s", o.code, code, text, o.stdout, o.stderr)
		}
	}
}

func (p command) stress(ctx context.Context, args ...string) outcomeOf {
	var stdout, stderr bytes.Buffer
	p.stdout, p.stderr = &stdout, &stderr
	if p.stdin == nil {
		p.stdin = strings.NewReader("")
	}
	if p.patience == 0 {
		p.patience = time.Hour
	}
	code := p.run(ctx, args)
	return outcomeOf{code, stdout.String(), stderr.String()}
}

func stress(t *testing.T, args ...string) outcomeOf {
	t.Helper()
	return command{}.stress(t.Context(), args...)
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
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
