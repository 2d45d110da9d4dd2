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
		{"-servers one extra", exitRefused, `["extra"]`},
		{"-servers one -cells 7", exitRefused, "not defined"},
		{"-servers one,two", exitRefused, "servers: got 2"},
		{"-servers one,two,three", 0, "config/server-3: to /etc/handloom on three; start: nats-server -c /etc/handloom/server.conf"},
		{"-servers one,two,three,four", 0, "server-4: "},
		{"-servers two", exitRefused, "same order"},
	} {
		var out bytes.Buffer
		got := run(&out, &out, append([]string{"-dir", dir}, strings.Fields(test.args)...))
		if got != test.want || !strings.Contains(out.String(), test.text) {
			t.Errorf("%s: got %d, want %d with %q: %s", test.args, got, test.want, test.text, out.String())
		}
	}
}
