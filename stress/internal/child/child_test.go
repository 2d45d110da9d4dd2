package child

import (
	"strings"
	"testing"
	"time"

	"handloom/internal/kit/play"
)

func TestTheFirstAndTheLastOfALongTextAreKept(t *testing.T) {
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

func TestAProgramThatCannotBeStartedIsAnError(t *testing.T) {
	c := Child{Command: Command{Path: "no/such/program"}}
	if r, err := c.Play(t.Context(), Request{}); err == nil {
		t.Errorf("%+v", r)
	}
	c.Close()
}

// A program that does not even tell that it hangs, hangs.
func TestAProcessThatDoesNotAnswerDoesNotEnd(t *testing.T) {
	p, err := (Command{Path: "testdata/shell.sh", Env: []string{"SCRIPT=exec sleep 60"}}).start()
	if err != nil {
		t.Skip(err) // no shell here
	}
	_, cause := p.ask(Request{Patience: 50*time.Millisecond - grace})
	r, err := p.verdict(cause, p.end(false))
	if err != nil || r.Failure.Kind != play.Liveness {
		t.Errorf("%+v, %v; want %s", r, err, play.Liveness)
	}
}

// A program that ends without an answer, and says nothing, was ended by others;
// one that says why has crashed.
func TestWhatAnEndedProcessMeans(t *testing.T) {
	for _, tt := range []struct {
		script string
		kind   play.Kind // "": an error
	}{
		{"kill -KILL $$", ""},
		{"echo fatal >&2; exit 2", play.Invariant},
		{"exit 66", play.Race},
		{"echo WARNING: DATA RACE >&2; exit 1", play.Race},
	} {
		p, err := (Command{Path: "testdata/shell.sh", Env: []string{"SCRIPT=" + tt.script}}).start()
		if err != nil {
			t.Skip(err) // no shell here
		}
		_, cause := p.ask(Request{Patience: grace})
		r, err := p.verdict(cause, p.end(false))
		switch {
		case tt.kind == "" && err == nil:
			t.Errorf("%s: %+v; want an error", tt.script, r.Failure)
		case tt.kind != "" && (err != nil || r.Failure.Kind != tt.kind):
			t.Errorf("%s: %+v, %v; want %s", tt.script, r, err, tt.kind)
		}
	}
}
