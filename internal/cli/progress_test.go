package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestProgress_LinesArePlainAndApart(t *testing.T) {
	var out strings.Builder
	at := time.Unix(0, 0)
	p := NewProgress(&out, func() time.Time { return at })
	for i := range 50 { // 5 seconds
		p.Show(func(since time.Duration) string { return fmt.Sprint("step ", i, " ", since) })
		at = at.Add(100 * time.Millisecond)
	}
	p.Clear()
	if want := "step 2 200ms\nstep 22 2s\nstep 42 2s\n"; out.String() != want {
		t.Errorf("output %q, want %q", out.String(), want)
	}
}

func TestProgress_OverwritesTheLineOfATerminal(t *testing.T) {
	var out strings.Builder
	at := time.Unix(0, 0)
	p := NewProgress(&out, func() time.Time { return at })
	p.terminal = true
	for _, line := range []string{"a long line", "short"} {
		at = at.Add(time.Second)
		p.Show(func(time.Duration) string { return line })
	}
	p.Clear()
	if want := "\ra long line\rshort      \r     \r"; out.String() != want {
		t.Errorf("output %q, want %q", out.String(), want)
	}
}
