package runner_test

import (
	"testing"

	"handloom/proof/runner"
	"handloom/proof/script"
)

func TestEveryMisuseIsRefused(t *testing.T) {
	for _, word := range runner.Misuses() {
		text := "handloom-stress 1\ntable a packed word\ndo\nwrite\ninsert-items a %1*5\nend\nmisuse " + word + "\neach tasks=1\n@0 erase a %1\nflush\n"
		p, err := script.Parse([]byte(text), word)
		noError(t, err)
		if r := runner.Play(t.Context(), p, script.Config{Workers: 2}, nil); r.Failure != nil {
			t.Errorf("%s: %v", word, r.Failure)
		}
	}
}
