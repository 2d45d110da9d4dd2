package history

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// digestsOf returns a file of digests by a build.
func digestsOf(t *testing.T, g Game, dir, flags string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "digests")
	execute(t, g, "digests "+dir+" "+file+" -any "+flags).want(t, 0, file+" has the digests of ticks ")
	return file
}

// Snapshots of the log are after ticks 25, 50, 75 and 100: neither build continues with them.
func TestDiff_NamesTheFirstDifference(t *testing.T) {
	m := newMatch(t, plant{}).play(t, 25, save).play(t, 50, save).play(t, 75, save).play(t, 100, save)
	for _, c := range []struct {
		old, next string
		tick      uint64
		args      string // of old
		exit      int
		want      string
		in, shows string // in a build
	}{
		{old: "none", next: "none", want: `verdict: equal (exit code 0): "with none" and "with none": the states after ticks 0 to 100`},
		{old: "none", next: "none", args: "-from 80 -to 90", want: "the states after ticks 80 to 90"},
		{old: "none", next: "put", tick: 60, args: "-to 59", want: "the states after ticks 0 to 59"},
		{old: "none", next: "put", tick: 60, exit: 1, want: `differs (exit code 1): "with none" and "with put", after tick 60: table "fighter", shard 0`, in: "put", shows: "1:1.1 {X:10 Team:1000 "},
		{old: "put", next: "none", tick: 75, exit: 1, want: `after tick 75: table "fighter"`, in: "put", shows: "1:1.1 {X:10 Team:1000 "},
		{old: "none", next: "heals", tick: 60, exit: 1, want: `after tick 60: table "fighter"`},
		{old: "none", next: "heals", tick: 60, args: "-from 61", want: "the states after ticks 61 to 100"},
		{old: "none", next: "rows", tick: 100, exit: 1, want: `after tick 100: table "fighter"`},
		{old: "turn", next: "slots", tick: 60, exit: 1, want: `after tick 60: table "wound"`},
		{old: "turn", next: "flushes", tick: 60, exit: 1, want: "after tick 60: ", in: "flushes", shows: "1:0.1 "},
		{old: "none", next: "create", tick: 60, exit: 1, want: `after tick 60: table "fighter", shard 0; table "bullet", shard 0; table "wound", shard 0`},
		{old: "none", next: "panic", tick: 60, exit: 1, want: `tick 60 fails only in B`},
		{old: "panic", next: "none", tick: 60, exit: 1, want: `A: world: tick 60 (`},
		{old: "panic", next: "panic", tick: 60, want: "the states after ticks 0 to 59"},
		{old: "none", next: "panic", tick: 60, args: "-to 59", want: "the states after ticks 0 to 59"},
	} {
		t.Run(fmt.Sprint(c.old, c.next, c.tick, c.args), func(t *testing.T) {
			t.Parallel()
			builds := map[string]*plant{c.old: {name: c.old, tick: c.tick, version: "with " + c.old}, c.next: {name: c.next, tick: c.tick, version: "with " + c.next}}
			A, B := digestsOf(t, builds[c.old].game(), m.dir, c.args), digestsOf(t, builds[c.next].game(), m.dir, "")
			o, names := execute(t, Game{}, "diff "+A+" "+B), strings.NewReplacer(A, "A", B, "B")
			o.stdout, o.stderr = names.Replace(o.stdout), names.Replace(o.stderr)
			o.want(t, c.exit, c.want)
			if c.shows != "" {
				execute(t, builds[c.in].game(), fmt.Sprintf("show %s -any -tick %d -table fighter", m.dir, c.tick)).want(t, 0, c.shows)
			}
		})
	}
}

func TestDiff_RefusesFiles(t *testing.T) {
	m := inArena(t, "none", 30)
	whole, err := os.ReadFile(digestsOf(t, m.game(), m.dir, ""))
	noError(t, err)
	lines := strings.SplitAfter(strings.TrimSpace(string(whole)), "\n")
	early := digestsOf(t, m.game(), m.dir, "-to 10")
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
		execute(t, Game{}, "diff "+early+" "+file).want(t, 2, want)
		execute(t, Game{}, "diff "+file+" "+early).want(t, 2, want)
	}
	execute(t, m.game(), "show "+m.dir+" -tick 1 -table ships").want(t, 2, `-table: got "ships", want one of [store.Rand/1 fighter/1 bullet/2 `)
}
