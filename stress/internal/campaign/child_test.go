package campaign

import (
	"errors"
	"os/exec"
	"testing"
	"time"

	"handloom/proof/draw"
	"handloom/proof/runner"
)

func TestChild_StartFailureIsAnError(t *testing.T) {
	c := child{Command: Command{Path: "no/such/program"}}
	if r, err := c.play(t.Context(), request{}); err == nil {
		t.Errorf("%+v", r)
	}
	c.close()
}

// A silent child was killed from outside. A child that ends with output has
// crashed. A child that does not report a hang hangs.
func TestChild_InterpretsEndedProcess(t *testing.T) {
	for _, tt := range []struct {
		script   string
		patience time.Duration
		kind     runner.Kind // "": an error
	}{
		{"exec sleep 60", 50*time.Millisecond - grace, runner.Liveness},
		{"kill -KILL $$", grace, ""},
		{"echo fatal >&2; exit 2", grace, runner.Invariant},
		{"exit 66", grace, runner.Race},
		{"echo WARNING: DATA RACE >&2; exit 1", grace, runner.Race},
	} {
		p, err := (Command{Path: "testdata/shell.sh", Env: []string{"SCRIPT=" + tt.script}}).start()
		if err != nil {
			t.Skip(err) // no shell here
		}
		_, cause := p.request(request{Patience: tt.patience})
		r, err := p.verdict(errors.Join(cause, p.End()))
		switch {
		case tt.kind == "" && err == nil:
			t.Errorf("%s: %+v; want an error", tt.script, r.Failure)
		case tt.kind != "" && (err != nil || r.Failure.Kind != tt.kind):
			t.Errorf("%s: %+v, %v; want %s", tt.script, r, err, tt.kind)
		}
	}
}

func TestChild_PlayDropsAnEndedProcess(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	for answer, kind := range map[string]runner.Kind{
		`{"error": "not begun", "ended": true}`:                        "",
		`{"result": {"Failure": {"Kind": "liveness"}}, "ended": true}`: runner.Liveness,
	} {
		c := child{Command: Command{Path: "testdata/shell.sh", Env: []string{"SCRIPT=read request; echo '" + answer + "'; exit 3"}}}
		for range 2 {
			r, err := c.play(t.Context(), request{Patience: time.Minute})
			if kind == "" && (err == nil || err.Error() != "not begun") || kind != "" && (err != nil || r.Failure == nil || r.Failure.Kind != kind) {
				t.Errorf("answer %s: got %+v, %v", answer, r, err)
			}
		}
		c.close()
	}
}

// A program that has not begun has no result.
func TestHung_IsNoResultBeforeTheProgramBegins(t *testing.T) {
	if r := hung(time.Second, false); r.Error == "" || r.Result != nil || !r.Ended {
		t.Errorf("not begun: got %+v, want an error", r)
	}
	if r := hung(time.Second, true); r.Error != "" || r.Result == nil || r.Result.Failure.Kind != runner.Liveness || !r.Ended {
		t.Errorf("begun: got %+v, want %s", r, runner.Liveness)
	}
}

func TestPlayRequest_ReportsThatTheProgramBegins(t *testing.T) {
	whole := request{Program: string(draw.Script(1, draw.Options{Steps: 3}).Text()), Config: draw.Configs(1, 1)[0].String()}
	for want, r := range []request{{Program: "invalid"}, whole} {
		begun := 0
		if _, err := playRequest(r, func() { begun++ }); (err == nil) != (want > 0) || begun != want {
			t.Errorf("begun %d times, want %d; %v", begun, want, err)
		}
	}
}
