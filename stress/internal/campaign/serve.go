package campaign

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"handloom/proof/runner"
	"handloom/proof/script"
)

const (
	exitDone = 0
	exitHung = 3
)

// ServeChild plays requests until in ends, then exits. It ignores interrupts;
// the parent handles them.
func ServeChild(in io.Reader, out io.Writer) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	// Most of the memory is garbage after a program; the limit is for large
	// programs.
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(512 << 20)
	s := &server{out: out}
	requests := make(chan request)
	go func() {
		lines := json.NewDecoder(bufio.NewReaderSize(in, 1<<16))
		for {
			var r request
			if err := lines.Decode(&r); err != nil {
				os.Exit(exitDone) // the parent has ended or needs no more plays
			}
			requests <- r
		}
	}()
	for r := range requests {
		s.serve(r)
	}
}

type server struct {
	lock sync.Mutex // guards out
	out  io.Writer
}

func (s *server) serve(r request) {
	var begun atomic.Bool
	watchdog := time.AfterFunc(r.Patience, func() {
		s.answer(hung(r.Patience, begun.Load()))
		os.Exit(exitHung)
	})
	result, err := playRequest(r, func() { begun.Store(true) })
	if !watchdog.Stop() {
		select {}
	}
	if err != nil {
		s.answer(response{Error: err.Error()})
		return
	}
	s.answer(response{Result: result})
}

func (s *server) answer(r response) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if err := json.NewEncoder(s.out).Encode(r); err != nil {
		os.Exit(exitDone)
	}
}

// hung returns the response for a hanging program. If it has not begun, the
// machine is too busy.
func hung(after time.Duration, begun bool) response {
	if !begun {
		return response{Error: fmt.Sprintf("child: the program did not begin in %v: the machine is too busy", after), Ended: true}
	}
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return response{Result: &runner.Result{Failure: &runner.Failure{
		Kind: runner.Liveness, What: fmt.Sprintf("the program did not end in %v\n%s", after, stacks),
	}}, Ended: true}
}

func playRequest(r request, begun func()) (*runner.Result, error) {
	p, err := script.Parse([]byte(r.Program), "program")
	if err != nil {
		return nil, err
	}
	if err := runner.Check(p, "program"); err != nil {
		return nil, err
	}
	c, err := script.ParseConfig(r.Config)
	if err != nil {
		return nil, err
	}
	return runner.Play(context.Background(), p, c, begun), nil
}
