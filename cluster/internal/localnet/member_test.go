package localnet

import (
	"io"
	"os"
	"slices"
	"testing"

	"go.uber.org/goleak"
)

var testNode Node

// TestMain also runs the children.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == ChildCommand {
		os.Exit(Child(os.Args[2:], os.Stdin, os.Stdout, testNode))
	}
	os.Exit(RunTests(m, func() error { return goleak.Find() }))
}

func TestMember_ServerSaysAddresses(t *testing.T) {
	f := &Fleet{Options: Options{Out: io.Discard}}
	s := &Member{Name: "s1", fleet: f}
	if s.receive("panic: disk"); !slices.Equal(f.Faults(), []string{`s1 says "panic: disk"`}) || s.Up() {
		t.Errorf("faults %q, up %t", f.Faults(), s.Up())
	}
	if s.receive("listen 127.0.0.1:1 127.0.0.1:2"); !s.Up() {
		t.Error("a server that listens is not up")
	}
	if s.Pause(); !s.Up() {
		t.Error("a server without a process was stopped")
	}
}
