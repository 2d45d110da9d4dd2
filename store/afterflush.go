package store

import (
	"fmt"
	"reflect"
	"runtime"

	"handloom/internal/check"
)

// callAfterFlush calls Options.AfterFlush. Its own stack frame marks the goroutine for
// [insideAfterFlush].
//
//go:noinline
func (s *Store) callAfterFlush(r *Report) {
	defer s.flush.reporting.Store(nil)
	if check.Full {
		s.goroutines.enter(&phase{op: opAfterFlush})
		defer s.goroutines.leave()
	}
	s.options.AfterFlush(r)
}

var afterFlushEntry = reflect.ValueOf((*Store).callAfterFlush).Pointer()

// refusedAfterFlush returns an error if the phase would wait for the Frame or Run that
// called AfterFlush and waits for it to return. Phases of other goroutines wait as usual.
// An AfterFlush of another store is refused too, because two of them could wait for each
// other.
//
// It reads the stack only while an AfterFlush runs inside a Frame or Run; otherwise it
// costs one load.
func (p *phase) refusedAfterFlush() error {
	flush := p.store.flush.reporting.Load()
	if flush == nil || flush.outer == nil || !insideAfterFlush() {
		return nil
	}
	holds, fix := flush.outer.op, "call it when Run has returned"
	if holds == opFrame {
		fix = "pass it the context that Frame gave to its function"
	}
	return fmt.Errorf("store: %v inside Options.AfterFlush of a flush inside %v: %w: it would wait forever; %s", p.op, holds, ErrPhase, fix)
}

func insideAfterFlush() bool {
	var callers [64]uintptr
	for skip := 2; ; skip += len(callers) {
		n := runtime.Callers(skip, callers[:])
		if n == 0 {
			return false
		}
		frames := runtime.CallersFrames(callers[:n])
		for {
			frame, more := frames.Next()
			if frame.Entry == afterFlushEntry {
				return true
			}
			if !more {
				break
			}
		}
	}
}
