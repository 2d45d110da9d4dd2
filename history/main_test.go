package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"handloom/internal/cli"
	"handloom/journal"
	"handloom/world"
)

// save saves a snapshot.
func save(t *testing.T, w *world.World, _ *arena) { noError(t, w.Close(t.Context())) }

// handedOver plays 30 ticks of version 1 and 30 of version 2.
func handedOver(t *testing.T) *match {
	t.Helper()
	m := newMatch(t, plant{})
	m.play(t, 30, func(t *testing.T, w *world.World, _ *arena) { noError(t, w.Handoff(t.Context(), "arena 2")) })
	m.version = "arena 2"
	return m.play(t, 60, nil)
}

// trimmed plays ticks that a journal without history drops.
func trimmed(t *testing.T) *match {
	t.Helper()
	m := newMatch(t, plant{})
	m.Options = journal.Options{Sync: journal.Never, SegmentBytes: 1 << 10}
	return m.play(t, 30, save).play(t, 60, save).play(t, 90, save)
}

func TestMain_AnswersInWords(t *testing.T) {
	good := inArena(t, "put", 100)
	healed := inArena(t, "heals", 100)
	late, rotten := trimmed(t), newMatch(t, plant{}).play(t, 30, save).play(t, 60, save).play(t, 90, save)
	damage(t, rotten.dir, "*3?.snap", func(b []byte) int { return len(b) / 2 })
	failed := inArena(t, "panic", 100)
	impure := inArena(t, "variable", 100)
	ordered := inArena(t, "map order", 100)
	broken := inArena(t, "none", 100)
	damage(t, broken.dir, "*.log", func(b []byte) int { return bytes.LastIndexFunc(b, func(r rune) bool { return r != 0 }) / 2 })
	unsaved := inArena(t, "none", 100)
	damage(t, unsaved.dir, "*.snap", func(b []byte) int { return len(b) - 1 })
	two, slow := handedOver(t), newMatch(t, plant{idle: 2 * time.Second}).play(t, 30, save).play(t, 200, nil)
	skipped := inArena(t, "panic", 100)
	log, err := journal.Open(skipped.dir, skipped.Options)
	noError(t, errors.Join(err, world.SkipInput(t.Context(), log, faultTick), log.Close()))
	open := newMatch(t, plant{})
	w, _, kill := open.open(t)
	defer kill()
	for range 50 {
		noError(t, second(w.Step(t.Context())))
	}
	called := faults[slices.IndexFunc(faults, func(f fault) bool { return f.name == "two calls" })].play(t)
	ofCall := fmt.Sprintf("why DIR -tick %d -item %v -field Team", called.tick, called.item)
	for _, c := range []struct {
		from *match
		game Game // nil New: the match's
		args string
		exit int
		want []string
	}{
		{from: rotten, args: "check DIR", want: []string{`verdict: equal`}},
		{from: good, args: "info DIR", want: []string{`ticks 0 to 100: version "arena 1"`}},
		{from: good, args: "first DIR -check teams", exit: 1, want: []string{`verdict: fails (exit code 1): check "teams" after tick 60: fighter `}},
		{from: good, args: "first DIR -check teams -turn", exit: 1, want: []string{`after tick 60: fighter `}},
		{from: good, args: "first DIR -check teams -to 59", want: []string{`verdict: holds (exit code 0): check "teams" after every tick from 0 to 59`}},
		{from: good, args: "first DIR -check teams -turn -from 30 -to 59", want: []string{`check "teams" after tick 59`}},
		{from: healed, args: "first DIR -check teams", exit: 1, want: []string{`after tick 60: fighter `}},
		{from: healed, args: "first DIR -check teams -turn", want: []string{`check "teams" after tick 100`}},
		{from: good, args: "first DIR -check broken", exit: 1, want: []string{`check "broken" after tick 0: `, "a broken check", "arena_test.go"}},
		{from: good, args: "first DIR -check none", exit: 2, want: []string{`got check "none", want one of broken, rules, teams`}},
		{from: good, args: "first DIR -check teams -to 900", exit: 2, want: []string{"the tick is not kept, nearest 100"}},
		{from: good, args: "why DIR -tick 100 -item 1:1.1 -field Team", want: []string{
			`tick 60, 1:1.1 Team: 1 -> 1000, put #0 of task 0 in pass `, `, system "mend", `, "arena_test.go:",
		}},
		{from: good, args: "why DIR -tick 60 -item 1:1.1 -field hull", want: []string{ // two changes of one tick
			"tick 60, 1:1.1 hull: {Left:4 Hit:4} -> {Left:3 Hit:5}, in place, ", "\ntick 60, 1:1.1 hull: {Left:3 Hit:5} -> {Left:4 Hit:5}, in place, ",
		}},
		{from: good, args: "why DIR -tick 60 -item 1:1.1 -field hull.Left", want: []string{"tick 60, 1:1.1 hull.Left: 4 -> 3, in place, "}},
		{from: called, args: ofCall, want: []string{fmt.Sprintf("tick %d, ", called.tick), "put #0 of call 2 of the input"}},
		{from: good, args: "why DIR -tick 100 -item 1:99.1 -field Team", exit: 2, want: []string{"why: history: Why: item 1:99.1 does not exist in ticks 0 to 100"}},
		{from: good, args: "why DIR -tick 100 -item 1:1.1 -field Gold", exit: 2, want: []string{"Team", "Deaths", "hull.Left"}},
		{from: good, args: "why DIR -tick 59 -item 1:1.1 -field Team", exit: 2, want: []string{"is unchanged since tick 0, where the log begins with Init or a snapshot: the tick is not kept, nearest 1"}},
		{from: good, args: "why DIR -tick 60 -item one", exit: 2, want: []string{`-item: got "one", want a handle such as 3:17.2; -h explains it`}},
		{from: good, args: "why DIR -item 1:1.1", exit: 2, want: []string{"-tick: got none, want a tick; first finds one"}},
		{from: good, args: "test DIR -check rules -state TO/a.state -game theGame", exit: 1, want: []string{"func TestRules_HoldsAfterTick60(t *testing.T) {\n\thistory.Play(t, theGame, \"/", "/a.state\", `\ntick 60 seed 0x", "`, \"rules\")\n}\n"}},
		{from: good, args: "test DIR -check rules -state DIR", exit: 2, want: []string{"is a directory"}},
		{from: good, args: "test DIR -check rules -to 59", want: []string{"verdict: holds"}},
		{from: good, args: "check DIR", want: []string{`verdict: equal (exit code 0): all digests of ticks 0 to 100`}},
		{from: good, game: (&plant{}).game(), args: "check DIR", exit: 1, want: []string{`verdict: differs (exit code 1): at the latest after tick 60: table "fighter", shard 0`}},
		{from: good, game: (&plant{name: "put", tick: 40}).game(), args: "first DIR -check teams", exit: 2, want: []string{`after tick 40 (record `, `table "fighter", shard 0: `, "; digests of the build that wrote the log, digests of this build, and diff name the first one"}},
		{from: good, game: (&plant{name: "put", tick: 40}).game(), args: "first DIR -check teams -to 40 -turn", exit: 2, want: []string{`after tick 40 (record `}},
		{from: good, game: (&plant{name: "put", tick: 40}).game(), args: "why DIR -tick 40 -item 1:1.1 -field Team", want: []string{"tick 40, 1:1.1 Team: 1 -> 1000, ", "\n  limits: this build differs from the log, "}},
		{from: good, game: new(plant).game(), args: "why DIR -tick 60 -item 1:1.1 -field Team", exit: 2, want: []string{`after tick 60 (record `}},
		{from: slow, game: (&plant{name: "put", tick: 40, idle: 2 * time.Second}).game(), args: "first DIR -check teams", exit: 2, want: []string{`after tick 1`, `table "fighter"`}},
		{from: slow, game: (&plant{name: "put", tick: 10, idle: 2 * time.Second}).game(), args: "why DIR -tick 46 -item 1:1.1 -field Team", want: []string{"tick 10, ", "\n  limits: this build differs from the log, "}},
		{from: good, game: (&plant{version: "arena 2"}).game(), args: "info DIR", want: []string{`ticks 0 to 100: version "arena 1", not "arena 2": needs -any`}},
		{from: good, game: (&plant{version: "arena 2"}).game(), args: "check DIR", exit: 2, want: []string{`got "arena 1", want "arena 2"`}},
		{from: good, game: (&plant{name: "put", tick: 60, version: "arena 2"}).game(), args: "check DIR -any", want: []string{"verdict: equal"}},
		{from: two, args: "info DIR", want: []string{`ticks 0 to 30: version "arena 1", not "arena 2": needs -any`, `ticks 30 to 60: version "arena 2"`}},
		{from: two, args: "check DIR", want: []string{"all digests of ticks 30 to 60"}},
		{from: two, args: "check DIR -any", want: []string{"all digests of ticks 30 to 60"}},
		{from: two, args: "why DIR -any -tick 60 -item 1:1.1", want: []string{"tick 60, 1:1.1: "}},
		{from: two, args: "check DIR -any -to 30", want: []string{"all digests of ticks 0 to 30"}},
		{from: late, args: "info DIR", want: []string{"ticks 0 to 59: not kept\n", `ticks 60 to 90: version "arena 1"`}},
		{from: late, args: "first DIR -check teams -from 5", exit: 2, want: []string{"tick 5: the tick is not kept, nearest 60"}},
		{from: failed, args: "info DIR", want: []string{"ticks 0 to 60", "tick 60: fails: ", "the roof falls in"}},
		{from: skipped, args: "info DIR", want: []string{"tick 60: without its input"}},
		{from: failed, args: "first DIR -check teams", exit: 2, want: []string{"tick 60 ", "the roof falls in"}},
		{from: failed, args: "first DIR -check teams -to 59", want: []string{"verdict: holds"}},
		{from: failed, args: "why DIR -tick 60 -item 1:1.1", exit: 2, want: []string{"tick 60 ", "the roof falls in"}},
		{from: impure, args: "why DIR -tick 60 -item 1:1.1", exit: 12, want: []string{"two plays of the tick differ"}},
		{from: impure, args: "info DIR", exit: 12, want: []string{"two plays of the tick differ", `table "fighter"`}},
		{from: ordered, args: "first DIR -check teams", exit: 12, want: []string{"two plays of the tick differ", `table "fighter"`}},
		{from: impure, args: "serve DIR", exit: 12, want: []string{"two plays of the tick differ"}},
		{from: good, args: "serve DIR -addr none", exit: 2, want: []string{"serve: -addr: listen tcp: address none: missing port"}},
		{from: broken, args: "serve DIR", exit: 11, want: []string{"corrupt"}},
		{from: broken, args: "check DIR", exit: 11, want: []string{"corrupt"}},
		{from: unsaved, args: "info DIR", exit: 11, want: []string{`ticks 0 to 100: version "arena 1"`, "corrupt"}},
		{from: open, args: "check DIR", want: []string{"verdict: equal"}},
		{from: open, args: "copy DIR TO", want: []string{"copied to "}},
		{from: open, args: "copy DIR DIR", exit: 2, want: []string{"want none"}},

		{from: good, args: "", exit: 2, want: []string{"history: got no command, want copy, info, first, why, check, digests, diff, show, test or serve; -h explains it"}},
		{from: good, args: "inspect DIR", exit: 2, want: []string{`got command "inspect", want copy`}},
		{from: good, args: "first", exit: 2, want: []string{"first: got [], want DIR; -h explains it"}},
		{from: good, args: "diff DIR", exit: 2, want: []string{"diff: got [", "want A and B; -h explains it"}},
		{from: failed, args: "digests DIR TO/file", want: []string{"world: tick 60 (", "has the digests of ticks 0 to 59"}},
		{from: late, args: "digests DIR TO/file -from 70 -to 100", exit: 2, want: []string{"the tick is not kept, nearest 90"}},
		{from: good, args: "digests DIR TO/none/file", exit: 2, want: []string{"no such file or directory"}},
		{from: two, game: (&plant{version: "arena 3"}).game(), args: "show DIR -tick 20 -table fighter", exit: 2, want: []string{`got "arena 1", want "arena 3"`}},
		{from: good, args: "show DIR -tick 20 -table post", want: []string{`6:0.1 {Color:0} ammo 1 label "north"`}},
		{from: good, args: "check DIR -x", exit: 2, want: []string{"check: flag provided but not defined: -x; -h explains it"}},
		{from: good, args: "info DIR/none", exit: 2, want: []string{"no such file or directory"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			if c.game.New == nil {
				c.game = c.from.game()
			}
			args := strings.NewReplacer("DIR", c.from.dir, "TO", t.TempDir()).Replace(c.args)
			execute(t, c.game, args).want(t, c.exit, c.want...)
		})
	}
}

type outcome struct {
	exit           int
	stdout, stderr string
}

func execute(t *testing.T, g Game, args string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	exit := run(t.Context(), g, strings.Fields(args), &stdout, &stderr)
	if exit > 1 && strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("%s: got %q, want one line", args, stderr.String())
	}
	return outcome{exit, stdout.String(), stderr.String()}
}

func (o outcome) want(t *testing.T, exit int, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if o.exit != exit || !strings.Contains(o.stdout+o.stderr, text) {
			t.Errorf("got exit code %d, want %d and %q:\n%s%s", o.exit, exit, text, o.stdout, o.stderr)
		}
	}
}

func TestHelp_ExplainsCommands(t *testing.T) {
	for _, args := range []string{"-h", "copy -h", "info -h", "first -h", "why -h", "digests -h", "diff -h", "show -h", "check x -h", "serve -h", "test -h"} {
		o := execute(t, Game{}, args)
		o.want(t, 0, "Usage: PROGRAM ", "Exit codes: 0")
		for line := range strings.SplitSeq(o.stdout, "\n") {
			if len(line) > 92 {
				t.Errorf("%s: a line has %d characters: %s", args, len(line), line)
			}
		}
	}
}

// A command ends while it plays ticks.
func TestMain_EndsWithItsContext(t *testing.T) {
	m := inArena(t, "none", 50)
	for cause, exit := range map[error]int{cli.ErrInterrupted: 130, cli.ErrTerminated: 143} {
		for _, args := range []string{"check " + m.dir, "first " + m.dir + " -check broken", "digests " + m.dir + " " + filepath.Join(t.TempDir(), "file")} {
			ctx, end := context.WithCancelCause(t.Context())
			g := beforeTicks(m.game(), func(at world.Tick) {
				if at.Number == 40 {
					end(cause)
				}
			})
			var stderr bytes.Buffer
			if got := run(ctx, g, strings.Fields(args), io.Discard, &stderr); got != exit {
				t.Errorf("%s: got exit code %d, want %d: %s", args, got, exit, &stderr)
			}
		}
	}
}
