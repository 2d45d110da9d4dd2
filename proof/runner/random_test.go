package runner_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"handloom/internal/check"
	"handloom/proof/draw"
	"handloom/proof/runner"
)

var (
	programs = flag.Int("programs", 60, "number of random programs, by seed from 1 on")
	begin    = flag.Int("first", 1, "first seed")
	stride   = flag.Int("stride", 1, "difference of two seeds")
	shrink   = flag.Duration("shrink", time.Minute, "time to shrink a failing program")
)

// A failing program is shrunk and logged. Keep its text as a file in
// stress/testdata/regress.
func TestPlay_MatchesModels(t *testing.T) {
	n := *programs
	if check.Cheap {
		n /= 5
	}
	for seed := *begin; seed <= n; seed += *stride {
		p := draw.Script(uint64(seed), draw.Options{Steps: 400, Misuses: runner.Misuses()})
		r := runner.Under(t.Context(), p, draw.Configs(p.Seed, 3)...)
		if r.Failure == nil {
			continue
		}
		t.Logf("seed %d: %v", p.Seed, r.Failure)
		limited, cancel := context.WithTimeout(t.Context(), *shrink)
		small, f := runner.Shrink(limited, p, r)
		cancel()
		t.Fatalf("%v, and\n%s", f, small.Text())
	}
}
