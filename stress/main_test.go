package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"handloom/stress/internal/campaign"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == childCommand {
		campaign.ServeChild(os.Stdin, os.Stdout)
	}
	goleak.VerifyTestMain(m)
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

func begun(t testing.TB, name string, workers []int, shards int) *replay {
	t.Helper()
	r, err := newReplay(name, workers, shards)
	noError(t, err)
	return r
}
