package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"handloom/internal/interrupt"
	"handloom/stress/internal/feed"
)

// eventsOf reads the events that a run wrote.
func eventsOf(t *testing.T, text string) []feed.Event {
	t.Helper()
	var events []feed.Event
	for e, err := range feed.Read(strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	if n := len(events); n < 3 || events[0].Kind != feed.KindStart || events[n-1].Kind != feed.KindVerdict {
		t.Fatalf("the events are %s", text)
	}
	return events
}

var digestLine = regexp.MustCompile(`\ndigest +([0-9a-f]{16}) after tick 40\n`)

func TestAScenarioEndsWithATableAndAVerdict(t *testing.T) {
	digests := make(map[string]bool)
	for _, workers := range []string{"0", "1", "3"} {
		got := stress(t, "-scenario", "arena", "-hz", "0", "-ticks", "40", "-workers", workers)
		first, _, _ := strings.Cut(got.stdout, "\n")
		if want := "go run ./stress -scenario arena -seed 1 -workers " + workers + " -hz 0 -ticks 40"; got.code != 0 || first != want {
			t.Errorf("exit code %d, first line %q; want %q", got.code, first, want)
		}
		if want := "verdict: passed (exit code 0): ticks 40, late 0, p99 "; !strings.HasPrefix(got.lastLine(), want) {
			t.Errorf("the last line is %q; want %s", got.lastLine(), want)
		}
		if m := digestLine.FindStringSubmatch(got.stdout); m != nil {
			digests[m[1]] = true
		}
	}
	if len(digests) != 1 {
		t.Errorf("the digests of three numbers of workers are %v", digests)
	}
}

func TestAScenarioOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my scenario.json")
	text := `{"about": "one line", "ticks": 5, "hz": 100, "tables": [{"name": "a", "items": 100, "bytes": 32, "creates": 7}]}`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	got := stress(t, "-scenario", path, "-ticks", "8")
	first, _, _ := strings.Cut(got.stdout, "\n")
	if want := "go run ./stress -scenario '" + path + "' -seed 1 -workers 0 -hz 100 -ticks 8"; got.code != 0 || first != want {
		t.Errorf("exit code %d, first line %q; want %q", got.code, first, want)
	}
	if !strings.Contains(got.stdout, "\nitems           156 in 156 slots") {
		t.Errorf("after 8 ticks there must be 156 items:\n%s", got.stdout)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(text, `"bytes"`, "\n\"bites\"", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := stress(t, "-scenario="+path); got.code != exitBad || got.stdout != "" || got.stderr != path+":2: unknown field \"tables[0].bites\"\n" {
		t.Errorf("exit code %d, %q, %q", got.code, got.stdout, got.stderr)
	}
}

// What repeats a run of so much time is the time: how many ticks it has is the
// machine's to say.
func TestTheFirstLineOfARunOfSoMuchTimeHasTheTime(t *testing.T) {
	got := stress(t, "-scenario", "arena", "-hz", "100", "-duration", "80ms")
	first, _, _ := strings.Cut(got.stdout, "\n")
	if want := "go run ./stress -scenario arena -seed 1 -workers 0 -hz 100 -duration 80ms"; got.code != 0 || first != want {
		t.Errorf("exit code %d, first line %q; want %q", got.code, first, want)
	}
}

func TestEventsAndReportOfAScenario(t *testing.T) {
	dir := t.TempDir()
	events, report := filepath.Join(dir, "events"), filepath.Join(dir, "report.html")
	got := stress(t, "-scenario", "arena", "-hz", "0", "-ticks", "20", "-json", events, "-html", report, "-max-heap", "64GiB", "-max-p99", "1h0m0s")
	if got.code != 0 {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	text, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	all := eventsOf(t, string(text))
	start := all[0].Start
	if first, _, _ := strings.Cut(got.stdout, "\n"); start.Command != first || !strings.HasSuffix(first, "-max-p99 1h0m0s -max-heap 64GiB -json "+events+" -html "+report) {
		t.Errorf("the command is %q; the first line %q", start.Command, first)
	}
	if start.MaxHeap != 64<<30 || start.MaxP99 != time.Hour || start.Unit != "commands" {
		t.Errorf("the start is %+v", start)
	}
	page, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<!DOCTYPE html>", "scenario arena: ", start.Command, "verdict: passed (exit code 0)", "<svg ", "limit, 64.0 GiB", "<td>player</td>"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("%q is not in the report", want)
		}
	}
	if host, err := os.Hostname(); err == nil && len(host) > 3 && (bytes.Contains(page, []byte(host)) || bytes.Contains(text, []byte(host))) {
		t.Errorf("the name of this machine, %s, is told", host)
	}
}

func TestEventsAloneAreOnStandardOutput(t *testing.T) {
	got := stress(t, "-scenario", "arena", "-hz", "0", "-ticks", "5", "-json", "-")
	all := eventsOf(t, got.stdout)
	if v := all[len(all)-1].Verdict; v.Verdict != "passed" || len(v.Totals) < 8 {
		t.Errorf("the verdict is %+v", v)
	}
	if !strings.HasPrefix(got.stderr, "go run ./stress -scenario arena ") || !strings.Contains(got.stderr, "\nverdict: passed") {
		t.Errorf("on standard error is %s", got.stderr)
	}
}

func TestAFullDiskIsAnErrorAndAVerdict(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no device that is full")
	}
	tests := []struct {
		flags []string
		code  int
		want  string
	}{
		{[]string{"-json", "/dev/full"}, exitBad, "verdict: failed (exit code 2): -json or -http could not be written; the outcome was passed: ticks 5"},
		{[]string{"-html", "/dev/full"}, exitBad, "verdict: failed (exit code 2): -html could not be written; the outcome was passed: ticks 5"},
		{[]string{"-html", "/dev/full", "-max-p99", "1ns"}, 16, "verdict: limit (exit code 16): -html could not be written; the outcome was limit: limit: the p99"},
	}
	for _, tt := range tests {
		got := stress(t, append([]string{"-scenario", "arena", "-hz", "0", "-ticks", "5"}, tt.flags...)...)
		if got.code != tt.code || !strings.HasPrefix(got.lastLine(), tt.want) || !strings.Contains(got.stderr, "no space left on device") {
			t.Errorf("%q: exit code %d, %q, %q", tt.flags, got.code, got.lastLine(), got.stderr)
		}
	}
}

func TestTheVerdictOfAFullDiskIsInTheEvents(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no device that is full")
	}
	got := stress(t, "-scenario", "arena", "-hz", "0", "-ticks", "5", "-html", "/dev/full", "-json", "-")
	all := eventsOf(t, got.stdout)
	if v := all[len(all)-1].Verdict; got.code != exitBad || v.ExitCode != exitBad || !strings.HasPrefix(v.Reason, "-html could not be written") {
		t.Errorf("exit code %d, %+v", got.code, v)
	}
}

// watching reads the live page when the run says where it is.
type watching struct {
	bytes.Buffer
	seen chan string
}

var address = regexp.MustCompile(`live page: (\S+)`)

func (w *watching) Write(b []byte) (int, error) {
	if m := address.FindSubmatch(b); m != nil {
		resp, err := http.Get(string(m[1]))
		if err != nil {
			return 0, err
		}
		page, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		http.DefaultClient.CloseIdleConnections()
		w.seen <- string(page)
	}
	return w.Buffer.Write(b)
}

func TestTheLivePageIsThereWhileItRuns(t *testing.T) {
	out := &watching{seen: make(chan string, 1)}
	p := &program{stdin: strings.NewReader(""), stdout: out, stderr: io.Discard}
	if code := p.run(t.Context(), strings.Fields("-scenario churn -ticks 5 -http 127.0.0.1:0")); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if page := <-out.seen; !strings.Contains(page, "<h1>scenario churn: ") || !strings.Contains(page, "new EventSource(") {
		t.Errorf("the page is %s", page)
	}
	if _, err := http.Get(address.FindStringSubmatch(out.String())[1]); err == nil {
		t.Error("the page is still there after the run")
	}
}

func TestAnInterruptEndsAScenarioWithItsReport(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { end(interrupt.ErrTerminated) })
	report := filepath.Join(t.TempDir(), "report.html")
	got := program{}.stress(ctx, "-scenario", "arena", "-ticks", "1000000", "-html", report)
	if got.code != interrupt.ExitTerminated || !strings.HasPrefix(got.lastLine(), "verdict: interrupted (exit code 143): ticks ") || !strings.Contains(got.stdout, "\ndigest ") {
		t.Errorf("exit code %d, %s", got.code, got.stdout)
	}
	page, err := os.ReadFile(report)
	if err != nil || !bytes.Contains(page, []byte("verdict: interrupted")) {
		t.Errorf("the report: %v", err)
	}
}

func TestWrongUsageOfScenariosIsOneLine(t *testing.T) {
	const see = "; see: go run ./stress -h\n"
	tests := []struct{ args, want string }{
		{"-scenario", "stress: flag needs an argument: -scenario" + see},
		{"-scenario=", "stress: -scenario wants a name or a file; the names are arena, bullet-hell, churn, city-traffic, hot-shard, mmo-zone" + see},
		{"-scenario arena x", `stress: "x" is too much; a file is named by -scenario FILE` + see},
		{"-scenario arena -scenario churn", `stress: invalid value "churn" for flag -scenario: the flag is given twice` + see},
		{"-scenario arena -shards 2", "stress: flag provided but not defined: -shards" + see},
		{"-scenario arena -workers 1,2", `stress: invalid value "1,2" for flag -workers: parse error` + see},
		{"-scenario arena -workers -1", "stress: -workers is -1; want 0 to 1024, 0 being GOMAXPROCS" + see},
		{"-scenario arena -hz -1", "stress: -hz is -1; want 0 to 10000, 0 being as fast as it goes" + see},
		{"-scenario arena -hz 10001", "stress: -hz is 10001; want 0 to 10000, 0 being as fast as it goes" + see},
		{"-scenario arena -ticks 0", "stress: -ticks is 0; want 1 to 1000000000" + see},
		{"-scenario arena -duration 0s", "stress: -duration is 0s; want more than 0" + see},
		{"-scenario arena -duration 1s -ticks 5", "stress: -duration and -ticks both say how long; give one" + see},
		{"-scenario arena -max-p99 -1s", "stress: -max-p99 is -1s; want more than 0" + see},
		{"-scenario arena -max-heap 0", `stress: invalid value "0" for flag -max-heap: want a whole number above 0 and B, KiB, MiB or GiB, such as 512MiB` + see},
		{"-scenario arena -max-heap 5MB", `stress: invalid value "5MB" for flag -max-heap: want a whole number above 0 and B, KiB, MiB or GiB, such as 512MiB` + see},
		{"-scenario arena -http-public", "stress: -http-public says nothing without -http" + see},
		{"-scenario arena -html -", "stress: -html wants a file" + see},
		{"-scenario arena -html x -json x", "stress: -json and -html would both write x" + see},
		{"-scenario churn -duration 1s", "stress -scenario: -duration needs a rate; give -hz too, or -ticks instead\n"},
		{"-scenario arena -duration 100000000s", "stress -scenario: -duration 27777h46m40s are 6000000000 ticks; want at most 1000000000\n"},
		{"-scenario no-such", "stress -scenario: open no-such: no such file or directory; a scenario is a file or one of arena, bullet-hell, churn, city-traffic, hot-shard, mmo-zone\n"},
		{"-scenario testdata", "stress -scenario: read testdata: is a directory\n"},
		{"-scenario arena -html no/such", "stress -scenario: -html: stat no: no such file or directory\n"},
		{"-scenario arena -json no/such", "stress -scenario: -json: open no/such: no such file or directory\n"},
		{"-scenario arena -http 0.0.0.0:0", "stress -scenario: -http: 0.0.0.0:0 is not a loopback address, so other machines could reach the page; take 127.0.0.1:PORT, or say -http-public\n"},
		{"-scenario arena -http nonsense", "stress -scenario: -http: address nonsense: missing port in address\n"},
	}
	for _, tt := range tests {
		got := stress(t, strings.Fields(tt.args)...)
		if got.code != exitBad || got.stdout != "" || got.stderr != tt.want {
			t.Errorf("%s: exit code %d, %q and on standard error %q\nwant %q", tt.args, got.code, got.stdout, got.stderr, tt.want)
		}
	}
}

func TestHelpNamesEveryScenario(t *testing.T) {
	got := stress(t, "-scenario=")
	names, _, _ := strings.Cut(got.stderr[strings.Index(got.stderr, "are ")+4:], ";")
	for name := range strings.SplitSeq(names, ", ") {
		if !strings.Contains(usageScenario, "\n  "+name+" ") {
			t.Errorf("the help does not have %s", name)
		}
	}
}
