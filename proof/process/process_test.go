package process

import (
	"strings"
	"testing"
)

func TestTail_KeepsTheFirstAndTheLast(t *testing.T) {
	var text tail
	for range 10 {
		for _, part := range []string{strings.Repeat("x", tailBytes/3), "\n"} {
			if n, err := text.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
	}
	text.Write([]byte("the last"))
	got := text.String()
	if !strings.HasPrefix(got, "xxx") || !strings.HasSuffix(got, "the last") || !strings.Contains(got, "\n...\n") || len(got) > 3*tailBytes {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-20:])
	}
}
