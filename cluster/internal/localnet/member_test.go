package localnet

import (
	"fmt"
	"testing"
)

func TestMember_ServerSaysAddresses(t *testing.T) {
	var fault string
	f := &Fleet{Options: Options{Fault: func(format string, args ...any) { fault = fmt.Sprintf(format, args...) }}}
	s := &Member{Name: "s1", fleet: f}
	if s.receive("panic: disk"); fault != `s1 says "panic: disk"` || s.Up() {
		t.Errorf("fault %q, up %t", fault, s.Up())
	}
	if s.receive("listen 127.0.0.1:1 127.0.0.1:2"); !s.Up() {
		t.Error("a server that listens is not up")
	}
	if s.Pause(true); !s.Up() {
		t.Error("a server without a process was stopped")
	}
}
