package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun_ReportsExitStatus(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "config")
	for _, test := range []struct {
		args string
		want int
		text string
	}{
		{"-h", 0, "Usage:"},
		{"", exitUsage, "-servers"},
		{"-servers one extra", exitUsage, "arguments"},
		{"-servers one -add", exitUsage, "either"},
		{"-servers one -cells 7,x", exitUsage, `"x"`},
		{"-servers one -cells 0", exitUsage, `"0"`},
		{"-servers one,two", exitFailed, "servers: got 2"},
		{"-add -cells 8", exitFailed, "cells"},
		{"-servers one -cells 7,00000000000000ff", 0, "README"},
		{"-servers one -cells 7", exitFailed, "-add"},
		{"-add -cells 8", 0, "reload"},
		{"-add -cells 8", exitFailed, "cell 0000000000000008"},
	} {
		var out bytes.Buffer
		got := run(&out, &out, append(strings.Fields(test.args), "-dir", dir))
		if got != test.want || !strings.Contains(out.String(), test.text) {
			t.Errorf("%s: got %d, want %d with %q: %s", test.args, got, test.want, test.text, out.String())
		}
	}
}
