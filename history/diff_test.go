package history_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"handloom/history"
	"handloom/store"
	"handloom/world"
)

// The test binary is a program of [history.Diff] if its name has the program's variants:
// GAME+FAULT+TICK+WORKERS.
func TestMain(m *testing.M) {
	if parts := strings.Split(filepath.Base(os.Args[0]), "+"); len(parts) == 4 {
		serveAs(parts)
		return
	}
	goleak.VerifyTestMain(m)
}

func serveAs(parts []string) {
	at, _ := strconv.ParseUint(parts[2], 10, 64)
	fixed, _ := strconv.Atoi(parts[3])
	p := plant{name: parts[1], tick: at}
	switch p.name {
	case "server":
		fmt.Println("listening on :8080")
		time.Sleep(time.Minute)
	case "no history":
		fmt.Fprintln(os.Stderr, "usage: server [-port N]")
		os.Exit(3)
	case "drift", "drift on":
		*history.DiffMemory = 1 // no checkpoints
	case "protocol":
		fmt.Print("\x00\x00\x00\x10{\"Protocol\":99} ")
		os.Stdout.Close()
	}
	if len(os.Args) > 1 && os.Args[1] == "play" {
		playAs(p, games[parts[0]], os.Args[2:])
		return
	}
	history.Main(history.Game{New: func(workers int) (*store.Store, world.Options, history.Checks, error) {
		workers = cmp.Or(fixed, workers)
		if parts[0] == "colony" {
			return newColony(workers, p).game()
		}
		a := newArena(workers, p)
		if p.name == "schema" {
			store.Register(a.Store, store.TableOptions[int]{Name: "scores"})
		}
		s, o, checks, err := a.game()
		if p.name == "version" {
			o.Version = "arena 2"
		}
		tick := o.Tick
		o.Tick = func(ctx context.Context, w *store.Writer, t world.Tick) error {
			return errors.Join(tick(ctx, w, t), a.breakDiff(ctx, w))
		}
		return s, o, checks, err
	}})
}

// breakDiff makes the faults of programs that Diff compares, at the end of a tick.
func (a *arena) breakDiff(ctx context.Context, w *store.Writer) (err error) {
	var h store.Handle[fighter]
	for h = range a.fighters.All() {
		break
	}
	f := a.fighters.At(h)
	switch {
	case a.name == "prints":
		fmt.Println("tick", a.now)
	case a.is("heals"):
		f.Team += 1000
	case a.name == "heals" && a.now == a.plant.tick+1:
		f.Team -= 1000
	case strings.HasPrefix(a.name, "drift") && a.now >= 20:
		f.Team++
		if a.is("drift on") {
			f.Team = -1
		}
	case a.is("clock"):
		f.Team = int(time.Now().UnixNano())
	case a.is("rows"):
		err = store.SortFunc(ctx, a.fighters, w, func(a, b *fighter) int { return b.Team - a.Team })
	case a.is("turn"):
		err = a.apply(ctx, func(store.Queue) {})
	case a.is("slots"):
		wrong := a.wounds.Insert(w, wound{})
		err = a.apply(ctx, func(q store.Queue) { a.wounds.Erase(q, wrong) })
	case a.is("flushes"):
		err = a.apply(ctx, func(q store.Queue) { a.fighters.Put(q, h, *f) })
	case a.is("exits"):
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(7)
	case a.is("hangs"):
		noFile := os.WriteFile(os.Args[0]+".now", nil, 0o600)
		fmt.Fprintln(os.Stderr, noFile)
		time.Sleep(time.Hour)
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

// built returns a program, as a name for the test binary.
func built(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	noError(t, err)
	path := filepath.Join(t.TempDir(), name)
	noError(t, os.Symlink(self, path))
	return path
}

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
	for i, c := range []struct {
		old, next, args string
		exit            int
		want            []string
	}{
		{"none", "none", "", 0, []string{"verdict: equal (exit code 0): ", "no difference after every tick from 0 to 100"}},
		{"none", "version", "-from 80 -to 90", 0, []string{`old "arena 1", new "arena 2": no difference after every tick from 75 to 90`}},
		{"none", "prints", "-every 7", 0, []string{"after each tick of 7 from 0 to 100", "ends between two of these states is not seen"}},
		{"none", "put", "", 1, []string{
			"tick 60, fighter 1:1.1 Team: old 1, new 1000\n", `  new: tick 60, 1:1.1 Team: 1 -> 1000, put #0 of task 0 in pass `, `, system "mend", `, "arena_test.go:",
			"  old: history: Why: item 1:1.1 changed at or before tick 0", "verdict: differs (exit code 1): ",
		}},
		{"put", "none", "-every 50", 1, []string{"tick 60, fighter 1:1.1 Team: old 1000, new 1\n", "  old: tick 60, 1:1.1 Team: 1 -> 1000, put "}},
		{"none", "column", "", 1, []string{"tick 60, fighter 1:2.1 hull.Hit: old ", ", new -1000", `-> -1000, in place, task 0 in pass `, `system "rest"`}},
		{"none", "insert", "", 1, []string{"tick 60, fighter 1:12.1: old nothing, new {X:0 Team:1000 ", "  new: tick 60, 1:12.1: nothing -> {X:0 Team:1000 ", "at once, Insert, arena_test.go:", "  old: history: Why: item 1:12.1 does not exist"}},
		{"none", "erase by handle", "", 1, []string{", fighter 1:1.1: old {X:", ", new nothing", "  new: tick 60, 1:1.1: {X:", " -> nothing, erase "}},
		{"none", "heals", "", 1, []string{"tick 60, fighter 1:0.1 Team: old 0, new 1000"}},
		{"none", "heals", "-every 50", 0, []string{"no difference after each tick of 50"}},
		{"none", "heals", "-ignore fighter.Team", 0, []string{"no difference", "not compared: fighter.Team"}},
		{"none", "column", "-ignore fighter.hull", 0, []string{"no difference"}},
		{"turn", "flushes", "-ignore flushes", 0, []string{"no difference", "not compared: flushes"}},
		{"none", "put", "-ignore fighter.Gold", 2, []string{`unknown field "Gold"`, `"Team"`}},
		{"none", "put", "-ignore Team", 2, []string{`ignore: got "Team", want TABLE.FIELD or flushes`}},
		{"drift", "drift", "", 0, []string{"no difference after every tick from 0 to 100"}},
		{"drift+80", "drift on+80", "", 1, []string{"tick 80, fighter 1:0.1 Team: old 61, new -1\n  old: tick 80, 1:0.1 Team: 60 -> 61, in place"}},
		{"none", "clock", "", 12, []string{"diff: history: Diff: new ", "+60+0: tick 60: two plays of the tick differ"}},
		{"none", "rows", "", 1, []string{"tick 60, fighter: only the order of rows"}},
		{"turn", "slots", "", 1, []string{"tick 60, wound: only free slots or the order of their reuse"}},
		{"turn", "flushes", "", 1, []string{"tick 60: only the number of flushes with commands: old ", ", new "}},
		{"none", "panic", "", 1, []string{"tick 60: fails only in one program\n  new: ", "the roof falls in"}},
		{"panic", "panic", "-every 7", 0, []string{"tick 60 fails in both programs:\n  old: ", "no difference after each tick of 7 from 0 to 59"}},
		{"panic", "panic+70", "", 1, []string{"tick 60: fails only in one program\n  old: world: tick 60 "}},
		{"panic+70", "panic", "", 1, []string{"tick 60: fails only in one program\n  new: world: tick 60 "}},
		{"none", "variable", "", 12, []string{"two plays of the tick differ", "new "}},
		{"none", "schema", "", 2, []string{`schemas differ: old has "", new has "table \"scores\"`}},
		{"none", "server", "", 2, []string{`not an answer of history.Main: got output "listening on :8080`, "want a program whose main calls history.Main"}},
		{"none", "no history", "", 2, []string{"new ", " ended: exit status 3: usage: server [-port N]; want a program whose main calls history.Main"}},
		{"none", "protocol", "", 2, []string{"got protocol 99, want 1; build both programs with the same version"}},
		{"none", "exits", "", 2, []string{"new ", " ended: exit status 7: out of luck"}},
		{"none", "none", "-from 400", 2, []string{"the tick is not kept, nearest 100"}},
		{"none", "none", "-to 400", 2, []string{"the tick is not kept, nearest 100"}},
		{"none", "none", "-from 40 -to 30", 2, []string{"got ticks 40 to 30, want the first not after the last"}},
	} {
		if testing.Short() && i%6 > 0 {
			continue
		}
		t.Run(c.old+" "+c.next+c.args, func(t *testing.T) {
			t.Parallel()
			args := []string{"diff", a.dir}
			for i, name := range []string{c.old, c.next} {
				if !strings.Contains(name, "+") {
					name += "+60"
				}
				args = append(args, [2]string{"-old", "-new"}[i], built(t, "arena+"+name+"+0"))
			}
			var stdout, stderr bytes.Buffer
			exit := history.Run(t.Context(), history.Game{}, append(args, strings.Fields(c.args)...), &stdout, &stderr)
			outcome{exit, stdout.String(), stderr.String()}.want(t, c.exit, c.want...)
		})
	}
}

// Programs that differ in nothing a tick depends on are equal: in their version, their number of
// workers, and after the last tick. A fault shortly before the last tick is found, with the cause of
// the value in both programs. -v prints the time of each comparison:
//
//	go test ./history -run Diff_ReportsNoDifference -parallel 1 -v -args -planted 72000
func TestDiff_ReportsNoDifferenceOfEqualPrograms(t *testing.T) {
	ticks := max(600, *plantedTicks)
	faults := map[string]string{"arena": "column", "colony": "unset"}
	if testing.Short() {
		ticks = 300
		delete(faults, "arena")
	}
	for game, fault := range faults {
		field := map[string]string{"column": "hull.Hit", "unset": "food"}[fault]
		r := newRecording(t, plant{name: "none"}, func(workers int, p plant) planted {
			if game == "colony" {
				return newColony(workers, p)
			}
			return newArena(workers, p)
		})
		w, _ := r.open(t)
		for w.Status().Tick < ticks {
			step(t, w)
		}
		r.kill()
		late := ticks - 10
		for i, c := range []struct {
			variant     string
			every, want uint64
		}{
			{"none+0+0", 1, 0},
			{"version+0+0", 1, 0},
			{"none+0+1", 1, 0},
			{"none+0+3", 1, 0},
			{fmt.Sprint(fault, "+", ticks+1, "+2"), 1, 0},
			{fmt.Sprint(fault, "+", late, "+0"), 1, late},
			{fmt.Sprint(fault, "+", late, "+0"), 70, late},
		} {
			if testing.Short() && i%3 > 0 {
				continue
			}
			t.Run(fmt.Sprint(game, " ", c.variant, " every ", c.every), func(t *testing.T) {
				t.Parallel()
				begin := time.Now()
				d, err := history.Diff(t.Context(), r.dir, built(t, game+"+none+0+0"), built(t, game+"+"+c.variant), history.DiffOptions{Every: c.every})
				t.Log(time.Since(begin).Round(time.Millisecond), d)
				if err != nil || d.Tick != c.want || d.Tick == 0 && d.To != ticks || d.From != 0 {
					t.Fatalf("got %v, %v, want a difference after tick %d", d, err, c.want)
				}
				if old, next := d.Old.Cause, d.New.Cause; c.want > 0 && (d.Field != field || old == nil || next == nil || old.Tick > late || next.Tick != late || old.To != d.Old.Value || next.To != d.New.Value) {
					t.Errorf("got %v, want field %s with causes in both programs", d, field)
				}
			})
		}
	}
}
