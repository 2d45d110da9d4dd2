package page

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"handloom/internal/browser"
	"handloom/stress/internal/feed"
)

var screenshots = flag.String("screenshots", "", "a folder for pictures of what the browser shows")

var (
	titles = []string{
		"Commands per second", "Live items", "Tick time, from the intended start", "Flush time",
		"Fullest shard of a table, by the mean", "Heap, garbage included", "Items in each shard",
	}
	legends = regexp.MustCompile(`^(p50.*|p99|limit.*|all tables|bullet|ship)$`)
	units   = regexp.MustCompile(`^[\d.,]+ ?(us|ms|s|MiB|k|M|x)$`)
)

// TestPagesReadWellInABrowser is one test, because a browser takes its time to
// start.
func TestPagesReadWellInABrowser(t *testing.T) {
	b := browser.Open(t)
	for _, width := range []int{1280, 400} {
		for _, scheme := range []string{"light", "dark"} {
			b.Scheme(scheme == "dark")
			browseReport(t, b, width, scheme)
		}
		browseLive(t, b, width)
	}
}

func browseReport(t *testing.T, b *browser.Browser, width int, scheme string) {
	var c feed.Collector
	follow(&c, 40)
	c.Event(feed.Event{Kind: feed.KindFailure, Failure: &failure})
	c.Event(feed.Event{Kind: feed.KindVerdict, Verdict: &passing})
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, reportOf(t, &c), 0o644); err != nil {
		t.Fatal(err)
	}
	b.Show("file://"+path, width)
	readsWell(t, b, "report-"+scheme, width)
	var headings []string
	b.Eval(`[...document.querySelectorAll("h1, h2")].map(e => e.textContent)`, &headings)
	if len(headings) != 5 {
		t.Errorf("the headings are %q", headings)
	}
}

func browseLive(t *testing.T, b *browser.Browser, width int) {
	l := serve(t)
	follow(l, 39)
	b.Show(l.URL(), width)
	b.Until(`document.getElementById("link").textContent === "live"`)
	l.Event(feed.Event{Kind: feed.KindSample, Elapsed: 10 * time.Second, Sample: sample(39)})
	b.Until(`[...document.querySelectorAll("dd")].some(e => e.textContent === "600")`) // ticks
	readsWell(t, b, "live", width)
	l.Event(feed.Event{Kind: feed.KindVerdict, Verdict: &passing})
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	b.Until(`document.getElementById("link").textContent === "the run has ended"`)
	b.Until(`document.querySelector(".verdict").textContent.startsWith("verdict: passed")`)
}

// readsWell holds what the browser shows to what can be read well, and keeps a
// picture of it if they are asked for.
func readsWell(t *testing.T, b *browser.Browser, name string, width int) {
	t.Helper()
	r := b.Read()
	for _, fault := range r.Faults(titles) {
		t.Errorf("%s at %d: %s", name, width, fault)
	}
	named, measured := 0, 0
	for _, text := range r.Texts {
		if legends.MatchString(text) {
			named++
		}
		if units.MatchString(text) {
			measured++
		}
	}
	if r.Window != width || named < 8 || measured < 30 {
		t.Errorf("%s at %d: in a window of %d, of %d texts %d are in legends and %d have units", name, width, r.Window, len(r.Texts), named, measured)
	}
	var broken []string
	b.Eval(`[...document.querySelectorAll("td + td")].filter(e => {
		const range = document.createRange();
		range.selectNodeContents(e);
		return range.getClientRects().length > 1;
	}).map(e => e.textContent)`, &broken)
	if len(broken) > 0 {
		t.Errorf("%s at %d: figures run over two lines: %q", name, width, broken)
	}
	if *screenshots != "" {
		if err := os.WriteFile(filepath.Join(*screenshots, fmt.Sprintf("%s-%d.png", name, width)), b.Picture(false), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
