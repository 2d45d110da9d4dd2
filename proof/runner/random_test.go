package runner_test

import (
	"context"
	"testing"

	"handloom/internal/check"
	"handloom/proof/draw"
	"handloom/proof/runner"
	"handloom/proof/script"
)

const maxTries = 1000

// randomPrograms plays n drawn programs, the same in each run, each under four
// configurations. It logs a shrunk failing program, for `go run ./stress
// -program FILE`, which also draws other programs.
func randomPrograms(t *testing.T, n int, narrow bool) {
	t.Helper()
	if check.Cheap {
		n /= 5
	}
	seed := uint64(1)
	for range n {
		var p *script.Script
		p, seed = drawn(seed, narrow)
		p.Configs = draw.Configs(p.Seed, 4)
		if f := runner.Under(t.Context(), p, p.Configs...); f != nil {
			ctx, cancel := context.WithCancel(t.Context())
			tries := 0
			small := draw.Shrink(ctx, p, func(smaller *script.Script) bool {
				if tries++; tries == maxTries {
					cancel()
				}
				got := runner.Under(t.Context(), smaller, p.Configs...)
				return got != nil && got.Kind == f.Kind
			})
			cancel()
			t.Fatalf("%v, and\n%s: %v", f, small.Text(), runner.Under(t.Context(), small, p.Configs...))
		}
	}
}

// drawn returns the first program from seed on with narrow handle fields, or
// with wide ones, and the next seed.
func drawn(seed uint64, narrow bool) (*script.Script, uint64) {
	for ; ; seed++ {
		p := draw.Script(seed, draw.Options{Steps: 150, Misuses: runner.Misuses(), Wide: !narrow})
		if narrow == (p.Narrow != script.Narrow{}) {
			return p, seed + 1
		}
	}
}

func TestPlay_MatchesModels(t *testing.T) { randomPrograms(t, 60, false) }

func TestPlay_MatchesModelsWithNarrowFields(t *testing.T) { randomPrograms(t, 60, true) }
