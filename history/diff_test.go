package history_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handloom/history"
	"handloom/store"
	"handloom/world"
)

// diffGame is a game with a fault, in another version, that ignores the number of workers.
type diffGame struct {
	planted
	version string
}

func (g diffGame) game() (*store.Store, world.Options, history.Checks, error) {
	s, o, checks, err := g.planted.game()
	o.Version = g.version
	if a, ok := g.planted.(*arena); ok {
		tick := o.Tick
		o.Tick = func(ctx context.Context, w *store.Writer, t world.Tick) error {
			return errors.Join(tick(ctx, w, t), a.breakDiff(ctx, w))
		}
	}
	return s, o, checks, err
}

// breakDiff makes faults that compared states show, at the end of a tick.
func (a *arena) breakDiff(ctx context.Context, w *store.Writer) (err error) {
	var h store.Handle[fighter]
	for h = range a.fighters.All() {
		break
	}
	f := a.fighters.At(h)
	switch {
	case a.is("heals"):
		f.Team += 1000
	case a.name == "heals" && a.now == a.plant.tick+1:
		f.Team -= 1000
	case a.is("rows"):
		err = store.SortFunc(ctx, a.fighters, w, func(a, b *fighter) int { return b.Team - a.Team })
	case a.is("turn"):
		err = a.apply(ctx, func(store.Queue) {})
	case a.is("slots"):
		wrong := a.wounds.Insert(w, wound{})
		err = a.apply(ctx, func(q store.Queue) { a.wounds.Erase(q, wrong) })
	case a.is("flushes"):
		err = a.apply(ctx, func(q store.Queue) { a.fighters.Put(q, h, *f) })
	}
	return err
}

// apply records and flushes commands.
func (a *arena) apply(ctx context.Context, record func(q store.Queue)) error {
	err := a.Do(ctx, record)
	if err == nil {
		_, err = a.Flush(ctx)
	}
	return err
}

// builtAs returns a build of a game with a fault in a tick.
func builtAs(start func(workers int, p plant) planted, fault string, tick uint64, workers int) history.Game {
	r := recording{start: func(int) planted {
		return diffGame{start(workers, plant{name: fault, tick: tick}), "with " + fault}
	}}
	return r.game()
}

// digestsOf returns a file of digests by a build.
func digestsOf(t *testing.T, g history.Game, dir, flags string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "digests")
	execute(t, g, "digests "+dir+" "+file+" -any "+flags).want(t, 0, file+" has the digests of ticks ")
	return file
}

// Snapshots of the log are after ticks 25, 50, 75 and 100: neither build continues with them.
func TestDiff_NamesTheFirstDifference(t *testing.T) {
	a := newRecording(t, plant{}, newArenaGame)
	for until := uint64(25); until <= 100; until += 25 {
		w, _ := a.open(t)
		for w.Status().Tick < until {
			step(t, w)
		}
		noError(t, w.Close(t.Context())) // saves
		a.kill()
	}
	for _, c := range []struct {
		old, next   string
		tick        uint64
		args        string // of old
		exit        int
		want, shows string
	}{
		{old: "none", next: "none", want: `verdict: equal (exit code 0): "with none" and "with none": the states after ticks 0 to 100`},
		{old: "none", next: "none", args: "-from 80 -to 90", want: "the states after ticks 80 to 90"},
		{old: "none", next: "put", tick: 60, args: "-to 59", want: "the states after ticks 0 to 59"},
		{old: "none", next: "put", tick: 60, exit: 1, want: `differs (exit code 1): "with none" and "with put", after tick 60: table "fighter", shard 0`, shows: "1:1.1 {X:10 Team:1000 "},
		{old: "put", next: "none", tick: 75, exit: 1, want: `after tick 75: table "fighter"`, shows: "1:1.1 {X:10 Team:1000 "},
		{old: "none", next: "heals", tick: 60, exit: 1, want: `after tick 60: table "fighter"`},
		{old: "none", next: "heals", tick: 60, args: "-from 61", want: "the states after ticks 61 to 100"},
		{old: "none", next: "rows", tick: 100, exit: 1, want: `after tick 100: table "fighter"`},
		{old: "turn", next: "slots", tick: 60, exit: 1, want: `after tick 60: table "wound"`},
		{old: "turn", next: "flushes", tick: 60, exit: 1, want: "after tick 60: ", shows: "1:0.1 "},
		{old: "none", next: "panic", tick: 60, exit: 1, want: `tick 60 fails only in B`},
		{old: "panic", next: "none", tick: 60, exit: 1, want: `A: world: tick 60 (`},
		{old: "panic", next: "panic", tick: 60, want: "the states after ticks 0 to 59"},
		{old: "none", next: "panic", tick: 60, args: "-to 59", want: "the states after ticks 0 to 59"},
	} {
		t.Run(fmt.Sprint(c.old, c.next, c.tick, c.args), func(t *testing.T) {
			t.Parallel()
			old, next := builtAs(newArenaGame, c.old, c.tick, 1), builtAs(newArenaGame, c.next, c.tick, 3)
			A, B := digestsOf(t, old, a.dir, c.args), digestsOf(t, next, a.dir, "")
			o := execute(t, history.Game{}, "diff "+A+" "+B)
			o.stdout = strings.NewReplacer(A, "A", B, "B").Replace(o.stdout)
			o.stderr = strings.NewReplacer(A, "A", B, "B").Replace(o.stderr)
			o.want(t, c.exit, c.want)
			if c.shows != "" {
				execute(t, map[bool]history.Game{true: old, false: next}[c.old == "put"], fmt.Sprintf("show %s -any -tick %d -table fighter", a.dir, c.tick)).want(t, 0, c.shows)
			}
		})
	}
}

func TestDiff_RefusesFiles(t *testing.T) {
	r := inArena(t, "none", 30)
	whole, err := os.ReadFile(digestsOf(t, r.game(), r.dir, ""))
	noError(t, err)
	lines := strings.SplitAfter(strings.TrimSpace(string(whole)), "\n")
	early := digestsOf(t, r.game(), r.dir, "-to 10")
	for text, want := range map[string]string{
		"":                          "after tick 0: EOF",
		"DIGESTS":                   "after tick 0: invalid character 'D'",
		strings.Join(lines[:8], ""): "after tick 7: EOF",
		lines[0] + lines[2]:         "after tick 0: got tick 2",
		strings.Replace(lines[0], "wound", "harm", 1):                         "tables differ: ",
		lines[0] + `{"Tick":1,"Tables":[{"Name":"none"}]}`:                    `after tick 0: got table "none" with 0 shards`,
		lines[0] + `{"Tick":1,"Tables":[{"Name":"bullet","Shards":[1,2,3]}]}`: `after tick 0: got table "bullet" with 3 shards`,
		strings.Replace(lines[0], `"Tick":0`, `"Tick":20`, 1):                 "no tick in common: at tick 10 one ends, at tick 20 the other begins",
	} {
		file := filepath.Join(t.TempDir(), "digests")
		noError(t, os.WriteFile(file, []byte(text), 0o600))
		execute(t, history.Game{}, "diff "+early+" "+file).want(t, 2, want)
		execute(t, history.Game{}, "diff "+file+" "+early).want(t, 2, want)
	}
	execute(t, r.game(), "show "+r.dir+" -tick 1 -table ships").want(t, 2, `-table: got "ships", want one of [store.Rand/1 fighter/1 bullet/2 `)
}
