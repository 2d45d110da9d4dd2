package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const small = "../testdata/small"

// outcome runs the command without standard input.
func outcome(args ...string) (stdout, stderr string, err error) {
	var out, log bytes.Buffer
	err = run(args, strings.NewReader(""), &out, &log)
	return out.String(), log.String(), err
}

func TestCommandPrintsTraceAndSummary(t *testing.T) {
	stdout, stderr, err := outcome("-types", small+".wire", small+".parsed")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(stdout, "handloom-trace 1\n") || !strings.Contains(stdout, "# table 4: string\n") {
		t.Errorf("it printed %s", stdout)
	}
	if !strings.HasPrefix(stderr, "77 events ") {
		t.Errorf("its summary is %s", stderr)
	}
}

func TestCommandCompresses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.gz")
	if _, _, err := outcome("-types", small+".wire", "-o", path, small+".parsed"); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := outcome("-types", small+".wire", small+".parsed")
	if err != nil || string(got) != want {
		t.Errorf("the compressed trace is another than the printed one (%v)", err)
	}
}

func TestCommandKeepsTheFileOnAFault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.trace")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, err := outcome("-o", path)
	if err == nil || !strings.HasPrefix(err.Error(), "stdin:1: no heap objects in the text") {
		t.Errorf("error is %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Errorf("the file holds %q, %v; want what it held before", got, err)
	}
}

func TestCommandRefusesItsArguments(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"-max", "x"}, `invalid value "x" for flag -max: parse error`},
		{[]string{"a", "b"}, "want one file or standard input, not 2 files"},
		{[]string{"-tables", "1"}, "goalloc: Tables is 1; want 2 to 1024, or 0 for 64"},
	}
	for _, tt := range tests {
		if _, _, err := outcome(tt.args...); err == nil || err.Error() != tt.want {
			t.Errorf("%v: error is %v; want %s", tt.args, err, tt.want)
		}
	}
	if _, stderr, _ := outcome("-h"); !strings.Contains(stderr, "-types") {
		t.Errorf("help is %q", stderr)
	}
}
