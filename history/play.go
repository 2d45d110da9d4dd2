package history

import (
	"context"
	"fmt"
	"io"
	"os"

	"handloom/internal/entrance"
	"handloom/world"
)

// tester is the part of a *testing.T that Play needs.
type tester interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Play plays the text of a [Script] and fails the test t, a *testing.T, unless a check of the game
// holds after each of the ticks. file has the State of the script; "" begins with Options.Init. The
// game may be of another version, with the tables of the script.
//
// The test ends at once if the text or the file cannot be read, with the line, if the check does not
// hold before the first tick, and if a tick fails.
func Play(t tester, g Game, file, text, check string) {
	t.Helper()
	failed, err := play(t.Context(), g, file, text, check)
	switch {
	case err != nil:
		t.Fatalf("history: Play: %v", err)
	case failed != nil:
		t.Errorf("%v", failed)
	}
}

// play returns the first error of the check.
func play(ctx context.Context, g Game, file, text, name string) (failed, err error) {
	s, o, checks, err := g.New(0)
	if err != nil {
		return nil, fmt.Errorf("Game.New: %w", err)
	}
	log := world.Memory()
	if file != "" {
		state, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		// The state becomes the snapshot of a log without records.
		save := func(w io.Writer) error {
			_, err := w.Write(state)
			return err
		}
		if err := log.Save(ctx, 0, save); err != nil {
			return nil, err
		}
	}
	r, err := world.NewReplayer(ctx, s, log, o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	d := r.Entrance(entrance.Key{})
	ticks, err := parseScript(text, d.Tables())
	if err != nil {
		return nil, err
	}
	p := player{Replayer: r, store: s, checks: checks}
	if err := checks.has(name); err != nil {
		return nil, err
	}
	if file == "" {
		if err := d.Begin(ctx); err != nil {
			return nil, err
		}
	}
	if err := p.start(ctx, 0); err != nil {
		return nil, err
	}
	// A check that fails before the script would fail after it for another reason.
	if err := p.run(name); err != nil {
		return nil, fmt.Errorf("check %q fails before tick %d: %w", name, ticks[0].Number, err)
	}
	for _, t := range ticks {
		if err := d.Run(ctx, t.Number, t.Seed, t.Time, t.calls); err != nil {
			return nil, err
		}
		if err := p.run(name); err != nil {
			return fmt.Errorf("check %q after tick %d: %w", name, t.Number, err), nil
		}
	}
	return nil, nil
}
