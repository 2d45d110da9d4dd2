package runner

import (
	"strings"
	"testing"

	"handloom/internal/check"
	"handloom/internal/seam"
	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

// A flush that swallows the panic of Links, and succeeds, is wrong even if the
// state is right. Here the panic is that of a step that nobody listens to.
func TestAFlushThatSwallowsAPanicIsNoticed(t *testing.T) {
	if check.Full {
		t.Skip("a checked build leaves such panics")
	}
	var burn func()
	seam.Step = func(int) func(int) int { burn(); return nil }
	defer func() { seam.Step = nil }()
	burn = func() {}
	p := opened(t, "table a packed word\ndo\neach tasks=1\n@0 emplace a %1\n")
	burn = func() {
		defer func() { recover() }()
		p.fuse.burn()
	}
	p.do(t.Context(), &script.Step{Op: script.FlushLinkPanic}, nil)
	if p.failure == nil || p.failure.What != "Flush succeeds, and Links panicked" {
		t.Errorf("%v", p.failure)
	}
}

// breaking is a table whose EmplaceFunc breaks by itself.
type breaking struct{ bound }

func (breaking) emplaceFunc(store.Queue, func(uint64) model.Item) uint64 { panic("the store breaks") }

// A panic of the store in the middle of a callback is not taken for that of the
// callback, which cancels the create.
func TestAPanicOfTheStoreIsNotTakenForThatOfACallback(t *testing.T) {
	p := opened(t, "table a packed word\ndo\neach tasks=1\n@0 emplace-func a %1 panic=1\n")
	p.tables[0] = breaking{p.tables[0]}
	p.do(t.Context(), &p.program.Steps[0], nil)
	if p.failure == nil || p.failure.Kind != Invariant || !strings.Contains(p.failure.What, "the store breaks") {
		t.Errorf("%v", p.failure)
	}
}
