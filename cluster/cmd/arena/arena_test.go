package main

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"go.uber.org/goleak"

	"handloom/cluster/internal/localnet"
)

// TestMain also runs the nodes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == localnet.ChildCommand {
		os.Exit(localnet.Child(os.Args[2:], os.Stdin, os.Stdout, runNode))
	}
	os.Exit(localnet.RunTests(m, func() error { return goleak.Find() }))
}

func TestArena_LosesNothingUnderKillsAndPauses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a quarter of a minute")
	}
	o, err := parse([]string{"-kill", "-for", "8s"})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if v := run(t.Context(), o, &out); v.Exit != 0 {
		t.Errorf("%v", v)
	}
	for _, want := range []string{`(kill|pause) [ns]\d\n`, `(n\d\+n\d, ){6}[1-9]\d* orders`, `verdict: passed`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("got no %q:\n%s", want, out.String())
		}
	}
}
