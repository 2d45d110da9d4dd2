package tasks

import (
	"testing"

	"handloom/internal/seam"
)

func TestPhase_LimitsWorkers(t *testing.T) {
	var p phase
	p.begin(work{n: 5}, 2)
	if p.open(2) || p.takeNext(&workerPhase{worker: 2}) {
		t.Error("worker 2 takes part in a phase of two workers")
	}
	if !p.open(1) || !p.takeNext(&workerPhase{worker: 1}) {
		t.Error("worker 1 takes no part in a phase of two workers")
	}
}

// A worker that may take part in one phase looks at it and is delayed until
// the next phase, of as many tasks, in which it may not.
func TestPhase_LateSwapFails(t *testing.T) {
	var p phase
	p.begin(work{n: 2, fn: nothing}, 3)
	changed := false
	setHook(t, func(seam.Point, int) {
		if changed {
			return
		}
		changed = true
		p.drain(&workerPhase{worker: 0, task: idle})
		if err := p.end(); err != nil {
			t.Error(err)
		}
		p.begin(work{n: 2, fn: nothing}, 2)
	})
	if p.takeNext(&workerPhase{worker: 2, task: idle}) {
		t.Error("claimed a task of a phase it never looked at")
	}
	if !changed {
		t.Error("the delay did not happen")
	}
}

func TestPhase_NumberWraps(t *testing.T) {
	var p phase
	p.word.Store(1<<64 - 1<<32) // the last number, and no task left
	p.begin(work{n: 1}, 1)
	if h := (workerPhase{task: idle}); !p.takeNext(&h) || h.task != 0 || p.takeNext(&h) {
		t.Error("the phase after the last number has not one task")
	}
}
