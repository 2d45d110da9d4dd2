package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"handloom/cluster/internal/localnet"
	"handloom/internal/cli"
	"handloom/proof/browser"
)

// TestMain also runs the nodes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == localnet.ChildCommand {
		os.Exit(localnet.Child(os.Args[2:], os.Stdin, os.Stdout, runNode))
	}
	os.Exit(localnet.RunTests(m, func() error { return goleak.Find() }))
}

type locked struct {
	lock chan struct{}
	b    bytes.Buffer
}

func newLocked() *locked { return &locked{lock: make(chan struct{}, 1)} }

func (l *locked) Write(b []byte) (int, error) {
	l.lock <- struct{}{}
	defer func() { <-l.lock }()
	return l.b.Write(b)
}

func (l *locked) String() string {
	l.lock <- struct{}{}
	defer func() { <-l.lock }()
	return l.b.String()
}

func TestArena_LosesNothingWhenNodesDie(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a quarter of a minute")
	}
	out := newLocked()
	o := options{kill: true, limit: 12 * time.Second, seed: 7, page: "127.0.0.1:0"}
	if v := run(t.Context(), o, out); v.Exit != 0 {
		t.Fatalf("%v\n%s", v, out)
	}
	for _, want := range []string{`^go run .*\npage: http://.*\n.* are up; 6 cells`, `(node|server) [ns]\d is killed`, `each cell has a leader and a follower; players waited`, `verdict: passed`, `[1-9]\d* crossings`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("nothing says %q:\n%s", want, out)
		}
	}
}

func TestPage_ShowsArenaAndKills(t *testing.T) {
	b := browser.Open(t)
	ctx, end := context.WithCancel(t.Context())
	out := newLocked()
	ended := make(chan cli.Verdict)
	go func() {
		ended <- run(ctx, options{seed: 7, page: "127.0.0.1:0"}, out)
	}()
	defer func() {
		end()
		if v := <-ended; v.Name != "interrupted" {
			t.Errorf("%v\n%s", v, out)
		}
	}()
	url := regexp.MustCompile(`page: (\S+)`)
	for !url.MatchString(out.String()) {
		time.Sleep(time.Millisecond)
	}
	for _, width := range []int{1280, 400} {
		for _, dark := range []bool{false, true} {
			b.Scheme(dark)
			b.Show(url.FindStringSubmatch(out.String())[1], width)
			b.Until(`document.querySelectorAll("#processes .up").length === 6 && document.querySelector("#says").textContent.includes("carried out") && document.querySelector("#verdict.good").textContent.endsWith("none lost")`)
			keep(t, b, width, dark)
			var wide bool
			if b.Eval(`document.documentElement.scrollWidth > innerWidth`, &wide); wide {
				t.Errorf("the page is wider than %d pixels", width)
			}
		}
	}
	b.Eval(`document.querySelector("button[data-name=n0]").click() === undefined`, new(bool))
	b.Until(`[...document.querySelectorAll("#events li")].some(e => e.textContent.includes("node n0 is killed"))`)
	b.Until(`[...document.querySelectorAll("#events li")].some(e => e.textContent.includes("players waited"))`)
}

// keep saves a picture of the page to the folder ARENA_PICTURES.
func keep(t *testing.T, b *browser.Browser, width int, dark bool) {
	dir := os.Getenv("ARENA_PICTURES")
	if dir == "" {
		return
	}
	name := map[bool]string{false: "light", true: "dark"}[dark]
	noError(t, os.WriteFile(dir+"/arena-"+name+"-"+string(rune('0'+width/1000))+".png", b.Picture(), 0o644))
}

func TestRun_SeparatesUsageFromFailure(t *testing.T) {
	for args, says := range map[string]string{
		"-for -1s": "got [], -1s", "now": `got ["now"]`, "-nemesis": "not defined",
	} {
		if _, err := parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, and not %q", args, err, says)
		}
	}
	if v := run(t.Context(), options{page: "127.0.0.1:no"}, newLocked()); v.Exit != localnet.ExitFailed {
		t.Errorf("a page nowhere: %v", v)
	}
}
