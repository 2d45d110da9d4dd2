package tasks

import (
	"testing"

	"handloom/internal/seam"
)

func TestPhase_LimitsWorkers(t *testing.T) {
	var p phase
	p.begin(work{n: 5}, 2)
	if p.open(2) || p.takeNext(&workerPhase{worker: 2}) {
		t.Error("worker 2 exceeds the limit 2")
	}
	if !p.open(1) || !p.takeNext(&workerPhase{worker: 1}) {
		t.Error("worker 1 takes nothing below the limit 2")
	}
}

// A worker reads the word of a phase and is delayed until the next phase, which has as many
// tasks and a limit that excludes it.
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
		t.Error("took a task of another phase")
	}
	if !changed {
		t.Error("the delay did not happen")
	}
}

func TestPhase_NumberWraps(t *testing.T) {
	var p phase
	p.word.Store(1<<64 - 1<<32) // last number, no task left
	p.begin(work{n: 1}, 1)
	if h := (workerPhase{task: idle}); !p.takeNext(&h) || h.task != 0 || p.takeNext(&h) {
		t.Error("the phase after the last number has not one task")
	}
}
