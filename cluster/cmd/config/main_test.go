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
		{"", exitRefused, "-servers"},
		{"-servers one extra", exitRefused, "arguments"},
		{"-add -add", exitRefused, "given twice"},
		{"-servers one -cells 7,x", exitRefused, `"x"`},
		{"-servers one -cells 0", exitRefused, `"0"`},
		{"-servers one,two", exitRefused, "servers: got 2"},
		{"-add -cells 8", exitRefused, "cells"},
		{"-servers one -cells 7,00000000000000ff", 0, "README"},
		{"-servers one -cells 7", exitRefused, "-add"},
		{"-add -cells 8", 0, "reload"},
		{"-add -cells 8", exitRefused, "cell 0000000000000008"},
		{"-add", 0, "reload"},
		{"-add -servers two", exitRefused, "got routes of no server"},
	} {
		var out bytes.Buffer
		got := run(&out, &out, append(strings.Fields(test.args), "-dir", dir))
		if got != test.want || !strings.Contains(out.String(), test.text) {
			t.Errorf("%s: got %d, want %d with %q: %s", test.args, got, test.want, test.text, out.String())
		}
	}
}
