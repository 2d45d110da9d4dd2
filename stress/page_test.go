package main

import (
	"bytes"
	"flag"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"handloom/proof/browser"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

var (
	svgDrawing   = regexp.MustCompile(`(?s)<svg [^>]*>\n<title>(.*?)</title>.*?</svg>`)
	styleSheet   = regexp.MustCompile(`(?s)<style>.*?</style>`)
	machineFacts = regexp.MustCompile(`(<dt>(?:Go|platform|GOMAXPROCS)</dt><dd>)[^<]*`)
)

func pageStructure(page []byte) string {
	page = svgDrawing.ReplaceAll(page, []byte("[$1]"))
	page = machineFacts.ReplaceAll(page, []byte("$1-"))
	return string(styleSheet.ReplaceAll(page, []byte("<style></style>")))
}

func renderExample(t *testing.T, r runPage) []byte {
	t.Helper()
	var b bytes.Buffer
	noError(t, renderPage(&b, r))
	return b.Bytes()
}

func examplePage(n int) runPage {
	r := runPage{
		Title: "program test: <tables> & more", Command: "go run ./stress -program 'a b.program'", Unit: "operations",
		Facts: []fact{{"seed", "1"}, {"revision", "abc"}}, Totals: []fact{{"programs", "419"}, {"flushes", "19,589"}},
		Verdict: "verdict: passed (exit code 0): programs 419", Elapsed: time.Duration(n) * time.Second,
	}
	for i := range n {
		r.addPoint(time.Duration(i+1)*time.Second, 30_000*(i+1)+1000*(i%7))
	}
	return r
}

func TestRenderPage_MatchesGoldenFiles(t *testing.T) {
	failed := examplePage(0)
	failed.Verdict, failed.ExitCode, failed.Totals = "verdict: model (exit code 10): digest & <model>", 10, nil
	failed.Failures = []pageFailure{
		{What: "tick 7: digest & <model> differ", Replay: "go run ./stress -program x", Detail: "line 1\nline 2"},
		{What: "tick 8"},
	}
	for name, r := range map[string]runPage{"passed": examplePage(40), "failed": failed} {
		got := pageStructure(renderExample(t, r))
		path := filepath.Join("testdata", name+".html")
		if *update {
			writeFile(t, path, []byte(got))
		}
		want := readFile(t, path)
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s differs; look at it, then run with -update:\n%s", name, diff)
		}
	}
}

func TestRenderPage_MoodFollowsExitCode(t *testing.T) {
	for exit, want := range map[int]string{0: "verdict good", 1: `verdict "`, 10: "verdict bad", 130: `verdict "`, 143: `verdict "`} {
		if text := renderExample(t, runPage{ExitCode: exit}); !bytes.Contains(text, []byte(want)) {
			t.Errorf("exit code %d: no %q on\n%s", exit, want, pageStructure(text))
		}
	}
}

func TestRenderPage_NeedsNoOtherFile(t *testing.T) {
	text := strings.ReplaceAll(string(renderExample(t, examplePage(40))), `xmlns="http://www.w3.org/2000/svg"`, "")
	for _, foreign := range []string{"<script", "src=", "href=", "url(", "@import", "<link", "<iframe", "https://", "http://"} {
		if strings.Contains(text, foreign) {
			t.Errorf("the report has %s", foreign)
		}
	}
	if !strings.Contains(text, "default-src 'none'") {
		t.Error("the report has no content security policy")
	}
}

func TestRenderPage_EscapesAllText(t *testing.T) {
	const evil = "</svg></style><script>alert(1)</script>\"'&\x00\x1b"
	r := runPage{
		Title: evil, Command: evil, Unit: evil, Verdict: evil, Facts: []fact{{evil, evil}}, Totals: []fact{{evil, evil}},
		Failures: []pageFailure{{evil, evil, evil}},
	}
	r.addPoint(1, 1)
	text := string(renderExample(t, r))
	if strings.Contains(text, "<script") || strings.Contains(text, "</svg></style>") || strings.Contains(text, "\x00") {
		t.Errorf("a text is not escaped:\n%s", pageStructure([]byte(text)))
	}
	if n := strings.Count(text, "&lt;script&gt;"); n < 10 {
		t.Errorf("got %d escaped texts, want 10 or more:\n%s", n, pageStructure([]byte(text)))
	}
}

func TestRunPage_KeepsFewPoints(t *testing.T) {
	r := examplePage(10 * maxPoints)
	last := r.points[len(r.points)-1]
	if len(r.points) > maxPoints || last.X != 10*maxPoints*float64(time.Second) {
		t.Errorf("got %d points, the last at %v", len(r.points), last.X)
	}
	for i, p := range r.points[1:] {
		if p.X <= r.points[i].X {
			t.Errorf("point %d is at %v, its predecessor at %v", i+1, p.X, r.points[i].X)
		}
	}
}

func TestRenderPage_ReadsWellInABrowser(t *testing.T) {
	b := browser.Open(t)
	path := filepath.Join(t.TempDir(), "report.html")
	writeFile(t, path, renderExample(t, examplePage(40)))
	for _, width := range []int{1280, 400} {
		b.Show("file://"+path, width)
		for _, fault := range b.Read().Faults([]string{"Speed, in operations per second"}) {
			t.Errorf("width %d: %s", width, fault)
		}
	}
}
