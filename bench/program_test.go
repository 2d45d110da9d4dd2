package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"handloom/bench/internal/results"
	"handloom/internal/interrupt"
)

// outcome is what somebody who calls the program sees.
type outcome struct {
	code           int
	stdout, stderr string
}

func bench(ctx context.Context, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := run(ctx, args, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// tiny makes every case as short as it can be.
var tiny = []string{"-n", "50", "-count", "1", "-benchtime", "1ns", "-cpu", "1,2"}

// everything is one tiny run of every case, as JSON: the tests of output share it.
var everything = sync.OnceValue(func() outcome {
	return bench(context.Background(), append([]string{"-run", ".", "-format", "json"}, tiny...)...)
})

// saved returns a file with that run.
func saved(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "all.json")
	if err := os.WriteFile(file, []byte(everything().stdout), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestEveryCaseIsMeasured(t *testing.T) {
	got := everything()
	if got.code != exitDone {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	run, err := results.Read("output", []byte(got.stdout))
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Fields(bench(t.Context(), "-list", "-n", "50", "-cpu", "1,2").stdout)
	if len(run.Results) != len(listed) || len(listed) < 150 {
		t.Errorf("%d cases were measured, %d are listed", len(run.Results), len(listed))
	}
}

func TestEveryFormatParses(t *testing.T) {
	file := saved(t)
	cases := len(strings.Fields(bench(t.Context(), "-list", "-n", "50", "-cpu", "1,2").stdout))
	for _, format := range formats {
		got := bench(t.Context(), "-from", file, "-format", format)
		if got.code != exitDone || got.stderr != "" {
			t.Fatalf("-format %s: exit code %d: %s", format, got.code, got.stderr)
		}
		switch format {
		case "go", "json":
			run, err := results.Read("output", []byte(got.stdout))
			if err != nil || len(run.Results) != cases {
				t.Errorf("-format %s has %d cases of %d: %v", format, len(run.Results), cases, err)
			}
		case "csv":
			lines, err := csv.NewReader(strings.NewReader(got.stdout)).ReadAll()
			if err != nil || len(lines) != 1+cases {
				t.Errorf("-format csv has %d lines for %d cases: %v", len(lines), cases, err)
			}
		case "md":
			for line := range strings.Lines(got.stdout) {
				if strings.HasPrefix(line, "|") && strings.Count(line, "|") != 10 {
					t.Errorf("-format md has a row of %d bars: %s", strings.Count(line, "|"), line)
				}
			}
		case "table":
			if lines := strings.Count(got.stdout, "\n"); lines < cases {
				t.Errorf("-format table has %d lines for %d cases", lines, cases)
			}
		}
	}
	if js := bench(t.Context(), "-from", file, "-json"); js.stdout != bench(t.Context(), "-from", file, "-format", "json").stdout {
		t.Error("-json is not -format json")
	}
}

func TestTheFirstLineRepeatsTheRun(t *testing.T) {
	got := bench(t.Context(), append([]string{"-run", "op=clear/impl=(map|slotmap)/"}, tiny...)...)
	want := "go run ./bench -run 'op=clear/impl=(map|slotmap)/' -n 50 -count 1 -benchtime 1ns -cpu 1,2"
	if first, _, _ := strings.Cut(got.stdout, "\n"); got.code != exitDone || first != want {
		t.Errorf("exit code %d, the first line is %q; want %q", got.code, first, want)
	}
	if strings.Count(got.stdout, "\nclear") != 2 { // two sizes
		t.Errorf("it printed\n%s", got.stdout)
	}
}

func TestTargetsAreMeasured(t *testing.T) {
	got := bench(t.Context(), "-targets", "-json", "-run", "^P18$", "-count", "1", "-benchtime", "1us")
	var doc struct {
		Targets []struct {
			ID     string
			Value  float64
			Target float64
			Better string
		}
	}
	if err := json.Unmarshal([]byte(got.stdout), &doc); err != nil || got.code != exitDone {
		t.Fatalf("exit code %d, %v: %s", got.code, err, got.stderr)
	}
	if len(doc.Targets) != 1 || doc.Targets[0].ID != "P18" || doc.Targets[0].Value <= 0 || doc.Targets[0].Target != 1.15 || doc.Targets[0].Better != "lower" {
		t.Errorf("the targets are %+v", doc.Targets)
	}
	table := bench(t.Context(), "-targets", "-run", "^P18$", "-count", "1", "-benchtime", "1us")
	if table.code != exitDone || !strings.Contains(table.stdout, "of 1 targets met") {
		t.Errorf("exit code %d: %s%s", table.code, table.stdout, table.stderr)
	}
}

func TestTheReportIsWritten(t *testing.T) {
	report := filepath.Join(t.TempDir(), "report.html")
	got := bench(t.Context(), "-from", saved(t), "-html", report)
	page, err := os.ReadFile(report)
	if got.code != exitDone || err != nil || !bytes.Contains(page, []byte("<title>Handloom benchmarks</title>")) {
		t.Errorf("exit code %d: %s, %v", got.code, got.stderr, err)
	}
}

func TestAnInterruptedRunIsMarked(t *testing.T) {
	for format, mark := range map[string]string{"table": "partial: interrupted", "md": "Partial: interrupted", "json": `"partial": true`, "go": "# partial: true"} {
		ctx, stop := context.WithCancelCause(t.Context())
		stop(interrupt.ErrTerminated)
		got := bench(ctx, append([]string{"-run", "op=clear/impl=map/", "-format", format}, tiny...)...)
		if got.code != interrupt.ExitTerminated || !strings.Contains(got.stdout, mark) || !strings.Contains(got.stderr, "interrupted") {
			t.Errorf("-format %s: exit code %d; want %d and %q in\n%s%s", format, got.code, interrupt.ExitTerminated, mark, got.stdout, got.stderr)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if got := bench(ctx, "-targets", "-run", "^P18$", "-json"); got.code != interrupt.ExitInterrupted || !strings.Contains(got.stdout, `"partial": true`) {
		t.Errorf("-targets: exit code %d:\n%s", got.code, got.stdout)
	}
}

// A reader that has read enough, such as head, is no fault.
func TestOutputThatNobodyReadsOnEndsQuietly(t *testing.T) {
	for _, args := range []string{"-list", "-from " + saved(t), "-from " + saved(t) + " -format json"} {
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		in.Close()
		var stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), out, &stderr); code != exitDone || stderr.Len() > 0 {
			t.Errorf("%s: exit code %d: %s", args, code, stderr.String())
		}
		out.Close()
	}
}

// What the documents recommend has intervals in its table.
func TestTheDocumentsRecommendRoundsEnoughForAnInterval(t *testing.T) {
	count := regexp.MustCompile(`go run \./bench[^` + "`" + `\n]* -count (\d+)`)
	for _, file := range []string{"../README.md", "README.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range count.FindAllStringSubmatch(string(text), -1) {
			if n, err := strconv.Atoi(m[1]); err != nil || n < fewestRounds {
				t.Errorf("%s recommends %q; below %d rounds every ± is a question mark", file, m[0], fewestRounds)
			}
		}
	}
}

func TestHelp(t *testing.T) {
	got := bench(t.Context(), "-h")
	if got.code != exitDone || got.stdout != usage {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
	for line := range strings.SplitSeq(usage, "\n") {
		if len(line) > 90 {
			t.Errorf("a line of the help has %d characters: %s", len(line), line)
		}
	}
}

func TestBadInputIsOneLineAndExitCode2(t *testing.T) {
	dir := t.TempDir()
	malformed := filepath.Join(dir, "malformed")
	if err := os.WriteFile(malformed, []byte("goos: linux\nBenchmarkHandloom/what is this\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte("BenchmarkHandloom/op=clear/impl=map/n=50/size=8-2\t1\t10 ns/item\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		want string
	}{
		{"-run op=nothing", "nothing matches -run op=nothing"},
		{"-list -run op=nothing", "nothing matches -run op=nothing"},
		{"-targets -run P99", "nothing matches -run P99"},
		{"-build -targets", "-build and -targets do not go together"},
		{"-build -n 5", "-build and -n do not go together"},
		{"-run (", "missing closing )"},
		{"-count 0", "-count is 0; want 1 to 1000"},
		{"-count -1", "-count is -1"},
		{"-count x", "invalid value"},
		{"-benchtime 5", "invalid value"},
		{"-benchtime 0s", "-benchtime is 0s; want more than 0"},
		{"-benchtime -1s", "-benchtime is -1s"},
		{"-n 0", "0 is outside 1 to"},
		{"-n 1,x", `"x" is not a number`},
		{"-n 5,5", "5 is named twice"},
		{"-cpu 0", "0 is outside 1 to"},
		{"-cpu 2000", "at most 1024"},
		{"-format xml", `-format "xml" is not known; want table, go, json, csv, md`},
		{"-seed x", "invalid value"},
		{"-json -format csv", "-json and -format csv do not go together"},
		{"-targets -format md", "not as -format md"},
		{"-targets -n 5", "-targets and -n do not go together"},
		{"-list -targets", "-list and -targets do not go together"},
		{"-list -format csv", "-list and -format do not go together"},
		{"-from x -count 3", "-from and -count do not go together"},
		{"-from x -cpuprofile y", "-from and -cpuprofile do not go together"},
		{"-from " + malformed, "malformed:2: parsing iteration count"},
		{"-from " + other + " -run op=get", "matches -run op=get"},
		{"-html nowhere/at/all", "no such file"},
		{"-html " + dir, "is a directory"},
		{"-run op=clear/impl=map/n=50 -n 50 -count 1 -cpuprofile nowhere/at/all", "no such file"},
		{"-wrong", "flag provided but not defined: -wrong"},
		{"get", `"get" is too much`},
	} {
		got := bench(t.Context(), strings.Fields(tt.args)...)
		if got.code != exitBad || !strings.Contains(got.stderr, tt.want) || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d; want %d and one line with %q, not\n%s", tt.args, got.code, exitBad, tt.want, got.stderr)
		}
		if got.stdout != "" {
			t.Errorf("%s: it printed\n%s", tt.args, got.stdout)
		}
	}
}

func TestAProfileIsWritten(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "cpu")
	got := bench(t.Context(), append([]string{"-run", "op=clear/impl=map/", "-cpuprofile", profile}, tiny...)...)
	if info, err := os.Stat(profile); got.code != exitDone || err != nil || info.Size() == 0 {
		t.Errorf("exit code %d: %s, %v", got.code, got.stderr, err)
	}
}
