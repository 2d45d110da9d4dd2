package localnet

import (
	"io"
	"slices"
	"testing"
)

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
