package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handloom/internal/cli"
)

type outcome struct {
	code           int
	stdout, stderr string
}

func bench(ctx context.Context, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := run(ctx, args, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

var tiny = []string{"-n", "50", "-count", "1", "-benchtime", "1ns", "-cpu", "1,2"}

func TestRun_MeasuresEveryCase(t *testing.T) {
	report := filepath.Join(t.TempDir(), "report.html")
	got := bench(t.Context(), append([]string{"-run", ".", "-format", "go", "-html", report}, tiny...)...)
	if got.code != exitDone {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	listed := strings.Fields(bench(t.Context(), "-list", "-n", "50", "-cpu", "1,2").stdout)
	if len(listed) < 150 {
		t.Errorf("%d cases are listed, want 150 or more", len(listed))
	}
	for _, name := range listed {
		if !strings.Contains(got.stdout, "\nBenchmarkHandloom/"+name+"-") {
			t.Errorf("%s is not measured", name)
		}
	}
	page, err := os.ReadFile(report)
	if err != nil || !bytes.Contains(page, []byte("<title>Handloom benchmarks</title>")) {
		t.Errorf("the page: %v", err)
	}
}

func TestRun_WritesEveryFormat(t *testing.T) {
	const cases = 4 // two implementations and two sizes
	for _, format := range formats {
		got := bench(t.Context(), append([]string{"-run", "op=clear/impl=(map|slotmap)/", "-format", format}, tiny...)...)
		if got.code != exitDone {
			t.Fatalf("-format %s: exit code %d: %s", format, got.code, got.stderr)
		}
		lines, want := 0, map[string]int{"table": cases, "go": cases, "md": cases + 2}[format]
		for line := range strings.Lines(got.stdout) {
			switch {
			case format == "table" && strings.Contains(line, "map  "), strings.HasPrefix(line, "Benchmark"):
				lines++
			case strings.HasPrefix(line, "|"):
				lines++
				if strings.Count(line, "|") != 10 {
					t.Errorf("-format md has a row of %d bars: %s", strings.Count(line, "|"), line)
				}
			}
		}
		if lines != want {
			t.Errorf("-format %s has %d lines, want %d:\n%s", format, lines, want, got.stdout)
		}
	}
}

func TestFirstLine_RepeatsTheRun(t *testing.T) {
	got := bench(t.Context(), append([]string{"-run", "op=clear/impl=(map|slotmap)/"}, tiny...)...)
	want := "go run ./bench -run 'op=clear/impl=(map|slotmap)/' -n 50 -count 1 -benchtime 1ns -cpu 1,2"
	if first, _, _ := strings.Cut(got.stdout, "\n"); got.code != exitDone || first != want {
		t.Errorf("exit code %d, the first line is %q; want %q", got.code, first, want)
	}
	if strings.Count(got.stdout, "\nclear") != 2 { // two sizes
		t.Errorf("it printed\n%s", got.stdout)
	}
}

func TestTargets_AreMeasured(t *testing.T) {
	table := bench(t.Context(), "-targets", "-run", "^P18$", "-count", "1", "-benchtime", "1us")
	if table.code != exitDone || !strings.Contains(table.stdout, "of 1 targets met") {
		t.Errorf("exit code %d: %s%s", table.code, table.stdout, table.stderr)
	}
}

func TestInterrupt_MarksTheRun(t *testing.T) {
	for format, mark := range map[string]string{"table": "partial: interrupted", "md": "Partial: interrupted", "go": "# partial: true"} {
		ctx, stop := context.WithCancelCause(t.Context())
		stop(cli.ErrTerminated)
		got := bench(ctx, append([]string{"-run", "op=clear/impl=map/", "-format", format}, tiny...)...)
		if got.code != cli.ExitTerminated || !strings.Contains(got.stdout, mark) || !strings.Contains(got.stderr, "interrupted") {
			t.Errorf("-format %s: exit code %d; want %d and %q in\n%s%s", format, got.code, cli.ExitTerminated, mark, got.stdout, got.stderr)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if got := bench(ctx, "-targets", "-run", "^P18$"); got.code != cli.ExitInterrupted || !strings.Contains(got.stdout, "partial: interrupted") {
		t.Errorf("-targets: exit code %d:\n%s", got.code, got.stdout)
	}
}

// A reader such as head closes the pipe early.
func TestOutput_ClosedPipeEndsQuietly(t *testing.T) {
	for _, args := range []string{"-list", "-run op=clear/impl=map/ -n 50 -count 1 -benchtime 1ns"} {
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

func TestUsage_ErrorsAreOneLine(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		args string
		want string
	}{
		{"-run op=nothing", "nothing matches -run op=nothing"},
		{"-targets -run P99", "nothing matches -run P99"},
		{"-run (", "missing closing )"},
		{"-count 0", "-count is 0; want 1 to 1000"},
		{"-benchtime 5", "invalid value"},
		{"-benchtime 0s", "-benchtime is 0s; want more than 0"},
		{"-n 0", "0 is not 1 or more"},
		{"-n 1,x", `"x" is not a number`},
		{"-n 5,5", "5 is named twice"},
		{"-cpu 2000", "at most 1024"},
		{"-format xml", `-format "xml" is not known; want table, go, md`},
		{"-targets -format md", "-targets and -format do not go together"},
		{"-list -targets", "-list and -targets do not go together"},
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

func TestProfile_IsWritten(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "cpu")
	got := bench(t.Context(), append([]string{"-run", "op=clear/impl=map/", "-cpuprofile", profile}, tiny...)...)
	if info, err := os.Stat(profile); got.code != exitDone || err != nil || info.Size() == 0 {
		t.Errorf("exit code %d: %s, %v", got.code, got.stderr, err)
	}
}
