package page

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"handloom/stress/internal/feed"
)

// TestPagesReadWellInABrowser is one test, because a browser takes its time to
// start.
func TestPagesReadWellInABrowser(t *testing.T) {
	b := openBrowser(t)
	for _, width := range widths {
		b.browseReport(t, width)
		b.browseLive(t, width)
	}
}

func (b *browser) browseReport(t *testing.T, width int) {
	var c feed.Collector
	follow(&c, 40)
	c.Event(feed.Event{Kind: feed.KindFailure, Failure: &failure})
	c.Event(feed.Event{Kind: feed.KindVerdict, Verdict: &passing})
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, reportOf(t, &c), 0o644); err != nil {
		t.Fatal(err)
	}
	b.open("file://"+path, width)
	b.check("report", width)
	var headings []string
	b.eval(`[...document.querySelectorAll("h1, h2")].map(e => e.textContent)`, &headings)
	if len(headings) != 4 {
		t.Errorf("the headings are %q", headings)
	}
}

func (b *browser) browseLive(t *testing.T, width int) {
	l := serve(t)
	follow(l, 39)
	b.open(l.URL(), width)
	b.until(`document.getElementById("link").textContent === "live"`)
	l.Event(feed.Event{Kind: feed.KindSample, Elapsed: 10 * time.Second, Sample: sample(39)})
	b.until(`[...document.querySelectorAll("dd")].some(e => e.textContent === "600")`) // ticks
	b.check("live", width)
	l.Event(feed.Event{Kind: feed.KindVerdict, Verdict: &passing})
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	b.until(`document.getElementById("link").textContent === "the run has ended"`)
	b.until(`document.querySelector(".verdict").textContent.startsWith("verdict: passed")`)
}
