package page

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"handloom/stress/internal/feed"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

var (
	drawing = regexp.MustCompile(`(?s)<svg [^>]*class="(\w+)"[^>]*>\n<title>(.*?)</title>.*?</svg>`)
	sheet   = regexp.MustCompile(`(?s)<style>.*?</style>`)
)

// structure returns a page without what the charts look like, of which package
// chart has tests.
func structure(page []byte) string {
	page = drawing.ReplaceAll(page, []byte("[$1: $2]"))
	return string(sheet.ReplaceAll(page, []byte("<style></style>")))
}

func reportOf(t *testing.T, c *feed.Collector) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Report(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReportsAreAsTheyWere(t *testing.T) {
	var passed, late, failed, plain, empty feed.Collector
	follow(&passed, 40)
	passed.Event(feed.Event{Kind: feed.KindVerdict, Verdict: &passing})
	follow(&late, 40)
	late.Points[39].Late, late.Points[39].Sample.Verdict = 3, feed.Late
	running := late // so far
	late.Event(feed.Event{Kind: feed.KindVerdict, Verdict: &feed.Verdict{Verdict: feed.Late, Reason: "ticks 600, late 3, p99 9.00 ms"}})
	follow(&failed, 1)
	for range 60 {
		failed.Event(feed.Event{Kind: feed.KindFailure, Failure: &failure})
	}
	failed.Failures = failed.Failures[:2]
	failed.Event(feed.Event{Kind: feed.KindVerdict, Verdict: &feed.Verdict{Verdict: "model", ExitCode: 10, Reason: failure.What}})
	for i := range 3 { // a run that knows its rate alone
		plain.Event(feed.Event{Kind: feed.KindSample, Elapsed: time.Duration(i + 1), Sample: &feed.Sample{Interval: 1, Operations: 5, Verdict: "no failure"}})
	}
	for name, c := range map[string]*feed.Collector{
		"passed": &passed, "late": &late, "running": &running, "failed": &failed, "plain": &plain, "empty": &empty,
	} {
		got := structure(reportOf(t, c))
		path := filepath.Join("testdata", name+".html")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s differs; look at it, then run with -update:\n%s", name, diff)
		}
	}
}

// Green is for what is as it should be.
func TestALateRunIsNotGreen(t *testing.T) {
	for _, name := range []string{"late", "running"} {
		text, err := os.ReadFile(filepath.Join("testdata", name+".html"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte(`<p class="verdict late">`)) || bytes.Contains(text, []byte("verdict good")) {
			t.Errorf("%s is\n%s", name, text)
		}
	}
}

func TestAReportNeedsNothingFromElsewhere(t *testing.T) {
	var c feed.Collector
	follow(&c, 40)
	text := strings.ReplaceAll(string(reportOf(t, &c)), `href="#`, "") // leads to a place in it
	for _, foreign := range []string{"<script", "src=", "href=", "url(", "@import", "<link", "<iframe", "https://"} {
		if strings.Contains(text, foreign) {
			t.Errorf("the report has %s", foreign)
		}
	}
	if rest := strings.ReplaceAll(text, `xmlns="http://www.w3.org/2000/svg"`, ""); strings.Contains(rest, "http://") {
		t.Error("the report names an address")
	}
	if !strings.Contains(text, "default-src 'none'") && !strings.Contains(text, "default-src &#39;none&#39;") {
		t.Error("the report has no content security policy")
	}
}

const evil = "</svg></style><script>alert(1)</script>\"'&\x00\x1b\r\revent: end\rdata: x\r\r"

// evilRun has something evil wherever a run has text.
func evilRun(s feed.Sink) {
	facts := []feed.Fact{{Name: evil, Value: evil}}
	for _, e := range []feed.Event{
		{Kind: feed.KindStart, Start: &feed.Start{Title: evil, Command: evil, Unit: evil, Details: facts, Go: evil, Platform: evil}},
		{Kind: feed.KindSample, Elapsed: 1, Sample: &feed.Sample{Verdict: evil, Shards: []feed.Shard{{Table: evil, Live: 1}, {Table: evil, Index: 1, Live: 1}, {Table: evil + "2", Live: 1}}}},
		{Kind: feed.KindProgress, Progress: &feed.Progress{Text: evil}},
		{Kind: feed.KindFailure, Failure: &feed.Failure{What: evil, Replay: evil, Detail: evil}},
		{Kind: feed.KindVerdict, Verdict: &feed.Verdict{Verdict: evil, Reason: evil, Totals: facts}},
	} {
		s.Event(e)
	}
}

func TestEverythingShownIsEscaped(t *testing.T) {
	var c feed.Collector
	evilRun(&c)
	running := c
	running.Verdict = nil
	for _, c := range []*feed.Collector{&c, &running} {
		text := string(reportOf(t, c))
		if strings.Contains(text, "<script") || strings.Contains(text, "</svg></style>") || strings.Contains(text, "\x00") {
			t.Errorf("something came through:\n%s", structure([]byte(text)))
		}
		if strings.Count(text, "&lt;script&gt;") < 10 {
			t.Errorf("the texts are not shown:\n%s", structure([]byte(text)))
		}
	}
}

func TestManyTablesAndShardsStayReadable(t *testing.T) {
	var c feed.Collector
	s := &feed.Sample{}
	for table := range 100 {
		for shard := range 3 {
			s.Shards = append(s.Shards, feed.Shard{Table: strings.Repeat("t", table+1), Index: shard, Live: 10 + shard})
		}
	}
	c.Event(feed.Event{Kind: feed.KindSample, Elapsed: 1, Sample: s})
	text := string(reportOf(t, &c))
	if n := strings.Count(text, "</td></tr>"); n != 300 {
		t.Errorf("the table of shards has %d rows; want 300", n)
	}
	if !strings.Contains(text, "Items in the shards of each table") || !strings.Contains(text, "fullest shard") {
		t.Error("the chart of loads does not sum up by table")
	}
	if len(text) > 400_000 {
		t.Errorf("the report has %d bytes", len(text))
	}
}
