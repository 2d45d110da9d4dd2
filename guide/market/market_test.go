package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"handloom/history"
	"handloom/store"
	"handloom/world"
)

// The test binary is the program, unless its arguments are flags of a test. Under the name new it is
// the repaired program.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "new" {
		history.Main(mended)
		return
	}
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		main()
		return
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(folder)
		os.Exit(code)
	}))
}

var folder string // of served

// served returns the output of a market in folder/log, which folder/copy has a copy of.
var served = sync.OnceValue(func() string {
	var err error
	if folder, err = os.MkdirTemp("", "market"); err != nil {
		return err.Error()
	}
	out := run("play", "log")
	run("copy", "log", "copy")
	return out
})

// run returns the output of the program, as in a shell in folder.
func run(args ...string) string {
	self, err := os.Executable()
	if err != nil {
		return err.Error()
	}
	return program(self, args...)
}

func program(path string, args ...string) string {
	cmd := exec.Command(path, args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if _, exits := errors.AsType[*exec.ExitError](err); err != nil && !exits {
		return err.Error()
	}
	return string(out)
}

func Example_play() {
	fmt.Print(served())
	// Output:
	// 1:0.1 ada has  84 gold
	// 1:1.1 bob has  94 gold
	// 1:2.1 cyd has 145 gold
	// 1:3.1 dee has  84 gold
	// 1:4.1 eve has 115 gold
	// 1:5.1 fay has  94 gold
}

func Example_info() {
	served()
	fmt.Print(run("info", "copy"))
	// Output:
	// ticks 0 to 300: version "market 1"
}

func Example_first() {
	served()
	fmt.Print(run("first", "copy", "-check", "gold"))
	// Output:
	// verdict: fails (exit code 1): check "gold" after tick 78: got 605 gold, want 600
}

func Example_why() {
	served()
	fmt.Print(run("why", "copy", "-tick", "78", "-item", "1:0.1", "-field", "Gold"))
	// Output:
	// tick 78, 1:0.1 Gold: 61 -> 58, put #2 of task 0 in pass 1 (Do), system "pay", market.go:96
	//   without effect: put #0 of task 0 in pass 1 (Do), system "pay", market.go:96
}

func Example_check() {
	served()
	fmt.Print(run("check", "copy"))
	// Output:
	// verdict: equal (exit code 0): all digests of ticks 0 to 300
}

func Example_diff() {
	served()
	self, _ := os.Executable()
	for _, name := range []string{"old", "new"} {
		if err := os.Symlink(self, filepath.Join(folder, name)); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Print(program("./old", "digests", "copy", "old.digests"))
	fmt.Print(program("./new", "digests", "copy", "new.digests", "-any"))
	fmt.Print(program("./new", "diff", "old.digests", "new.digests"))
	// Output:
	// old.digests has the digests of ticks 0 to 300, version "market 1"
	// new.digests has the digests of ticks 0 to 300, version "market 2"
	// verdict: differs (exit code 1): "market 1" and "market 2", after tick 78: table "player", shard 0
}

func Example_show() {
	served()
	fmt.Print(run("show", "copy", "-tick", "78", "-table", "player"))
	// Output:
	// 1:0.1 {Name:ada Gold:58 Steps:78}
	// 1:1.1 {Name:bob Gold:142 Steps:78}
	// 1:2.1 {Name:cyd Gold:123 Steps:78}
	// 1:3.1 {Name:dee Gold:68 Steps:78}
	// 1:4.1 {Name:eve Gold:126 Steps:78}
	// 1:5.1 {Name:fay Gold:88 Steps:78}
}

// region test

func TestGold_HoldsAfterTick78(t *testing.T) {
	history.Play(t, mended, "testdata/gold.state", `
tick 78 seed 0xe65e63f148cb85ee time 2026-11-24T00:21:57.910130916Z
	call create payment {From: 1:0.1, To: 1:5.1, Gold: 5}
	and create payment {From: 1:0.1, To: 1:3.1, Gold: 3}
`, "gold")
}

// endregion

var seedAndTime = regexp.MustCompile(`seed \S+ time \S+`)

// The test on the page is the output of the program, up to the seed and time of its log.
func TestPrinted_IsTheTestOnThePage(t *testing.T) {
	served()
	printed := run("test", "copy", "-check", "gold", "-game", "mended")
	page, err := os.ReadFile("market_test.go")
	if err != nil {
		t.Fatal(err)
	}
	plain := func(text string) string { return seedAndTime.ReplaceAllString(text, "") }
	if !strings.Contains(plain(string(page)), "// region test\n\n"+plain(printed)+"\n// endregion") {
		t.Errorf("the program prints\n%s", printed)
	}
	script := strings.Split(printed, "`")[1]
	for _, file := range []string{filepath.Join(folder, "testdata/gold.state"), "testdata/gold.state"} {
		for g, want := range map[*history.Game]string{&game: `check "gold" after tick 78: got 605 gold, want 600`, &mended: ""} {
			failed := failure{T: t}
			if history.Play(&failed, *g, file, script, "gold"); failed.text != want {
				t.Errorf("got failure %q, want %q", failed.text, want)
			}
		}
	}
}

// A failure is a test that notes its failure.
type failure struct {
	*testing.T
	text string
}

func (f *failure) Errorf(format string, args ...any) { f.text = fmt.Sprintf(format, args...) }

// region mended

// payInPlace replaces pay.
func (m *market) payInPlace(context.Context) error {
	for _, p := range m.payments.All() {
		from, to := m.players.At(p.From), m.players.At(p.To)
		if from.Gold >= p.Gold {
			from.Gold -= p.Gold
			to.Gold += p.Gold
		}
	}
	return nil
}

// endregion

var mended = history.Game{New: func(workers int) (*store.Store, world.Options, history.Checks, error) {
	m := newTables(workers)
	type on = []store.Resource
	m.frame = store.NewSchedule(
		m.Store,
		store.System{Name: "walk", Writes: on{m.players}, Run: m.walk},
		store.System{Name: "pay", Reads: on{m.payments}, Writes: on{m.players}, Run: m.payInPlace},
	)
	o := m.options()
	o.Version = "market 2"
	return m.Store, o, history.Checks{"gold": m.goldIsKept}, nil
}}
