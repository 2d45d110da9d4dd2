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

	"handloom/internal/browser"
	"handloom/internal/chart"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

var (
	drawing = regexp.MustCompile(`(?s)<svg [^>]*class="(\w+)"[^>]*>\n<title>(.*?)</title>.*?</svg>`)
	sheet   = regexp.MustCompile(`(?s)<style>.*?</style>`)
	machine = regexp.MustCompile(`(<dt>(?:Go|platform|GOMAXPROCS)</dt><dd>)[^<]*`)
)

// structure returns a page without the charts, which package chart tests, and without
// the facts of this machine.
func structure(page []byte) string {
	page = drawing.ReplaceAll(page, []byte("[$1: $2]"))
	page = machine.ReplaceAll(page, []byte("$1-"))
	return string(sheet.ReplaceAll(page, []byte("<style></style>")))
}

func write(t *testing.T, r Run) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// example returns a run with n points.
func example(n int) Run {
	r := Run{
		Title: "program test: <tables> & more", Command: "go run ./stress -program 'a b.program'", Unit: "operations",
		Facts: []Fact{{"seed", "1"}, {"revision", "abc"}}, Totals: []Fact{{"programs", "419"}, {"flushes", "19,589"}},
		Verdict: "verdict: passed (exit code 0): programs 419", Elapsed: time.Duration(n) * time.Second,
		Charts: []chart.Chart{chart.Bars{Title: "Most objects", Series: []string{""}, Groups: []chart.Group{{Name: "ship", Values: []chart.Value{{At: 3}}}}}},
	}
	for i := range n {
		r.Add(Point{At: time.Duration(i+1) * time.Second, Done: 30_000*(i+1) + 1000*(i%7), Live: 9000 + 500*(i%13)})
	}
	return r
}

func TestWrite_MatchesGoldenFiles(t *testing.T) {
	failed := example(0)
	failed.Verdict, failed.ExitCode, failed.Charts, failed.Totals = "verdict: model (exit code 10): digest & <model>", 10, nil, nil
	failed.Failures = []Failure{
		{What: "tick 7: digest & <model> differ", Replay: "go run ./stress -program x", Detail: "line 1\nline 2"},
		{What: "tick 8"},
	}
	for name, r := range map[string]Run{"passed": example(40), "failed": failed} {
		got := structure(write(t, r))
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

func TestWrite_MoodFollowsExitCode(t *testing.T) {
	for exit, want := range map[int]string{0: "verdict good", 1: `verdict "`, 10: "verdict bad", 130: `verdict "`, 143: `verdict "`} {
		if text := write(t, Run{ExitCode: exit}); !bytes.Contains(text, []byte(want)) {
			t.Errorf("exit code %d: no %q on\n%s", exit, want, structure(text))
		}
	}
}

func TestWrite_NeedsNoOtherFile(t *testing.T) {
	text := string(write(t, example(40)))
	for _, foreign := range []string{"<script", "src=", "href=", "url(", "@import", "<link", "<iframe", "https://"} {
		if strings.Contains(text, foreign) {
			t.Errorf("the report has %s", foreign)
		}
	}
	if rest := strings.ReplaceAll(text, `xmlns="http://www.w3.org/2000/svg"`, ""); strings.Contains(rest, "http://") {
		t.Error("the report names an address")
	}
	if !strings.Contains(text, "default-src 'none'") {
		t.Error("the report has no content security policy")
	}
}

func TestWrite_EscapesAllText(t *testing.T) {
	const evil = "</svg></style><script>alert(1)</script>\"'&\x00\x1b"
	r := Run{
		Title: evil, Command: evil, Unit: evil, Verdict: evil, Facts: []Fact{{evil, evil}}, Totals: []Fact{{evil, evil}},
		Failures: []Failure{{evil, evil, evil}},
	}
	r.Add(Point{At: 1, Done: 1, Live: 1})
	text := string(write(t, r))
	if strings.Contains(text, "<script") || strings.Contains(text, "</svg></style>") || strings.Contains(text, "\x00") {
		t.Errorf("a text is not escaped:\n%s", structure([]byte(text)))
	}
	if n := strings.Count(text, "&lt;script&gt;"); n < 10 {
		t.Errorf("got %d escaped texts, want 10 or more:\n%s", n, structure([]byte(text)))
	}
}

func TestRun_AddKeepsFewPoints(t *testing.T) {
	r := example(10 * maxPoints)
	last := r.points[len(r.points)-1]
	if len(r.points) > maxPoints || last.At != 10*maxPoints*time.Second {
		t.Errorf("got %d points, the last at %v", len(r.points), last.At)
	}
	for i, p := range r.points[1:] {
		if p.At <= r.points[i].At {
			t.Errorf("point %d is at %v, its predecessor at %v", i+1, p.At, r.points[i].At)
		}
	}
}

func TestWrite_ReadsWellInABrowser(t *testing.T) {
	b := browser.Open(t)
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, write(t, example(40)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{1280, 400} {
		b.Show("file://"+path, width)
		for _, fault := range b.Read().Faults([]string{"Speed, in operations per second", "Live items", "Most objects"}) {
			t.Errorf("width %d: %s", width, fault)
		}
	}
}
