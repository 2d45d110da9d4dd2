package process

import (
	"strings"
	"testing"
)

func TestTail_KeepsTheLast(t *testing.T) {
	var text tail
	for range 10 {
		if n, err := text.Write([]byte(strings.Repeat("x", tailBytes/3))); n != tailBytes/3 || err != nil {
			t.Fatal(n, err)
		}
	}
	_, _ = text.Write([]byte("the last"))
	if got := string(text); !strings.HasSuffix(got, "the last") || len(got) < tailBytes || len(got) > 2*tailBytes {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-20:])
	}
}
