package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"handloom/proof/process"
	"handloom/proof/runner"
)

type Command struct {
	Path string // program that calls [ServeChild] for the command "child"
	Env  []string
}

// grace is the time beyond its patience that a child has to report that it
// hangs.
const grace = 10 * time.Second

// child is a process that plays programs, one at a time. It starts with the
// first request and restarts after it has ended.
type child struct {
	Command Command

	running *playing
}

type playing struct {
	*process.Process
	answers chan string
	silent  atomic.Bool // killed because it did not answer
}

// play plays a program. A crash, race or hang is a failure in the result. An
// error means that there is no result; if ctx ends, it is its cause.
func (c *child) play(ctx context.Context, r request) (*runner.Result, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if c.running == nil {
		p, err := c.Command.start()
		if err != nil {
			return nil, err
		}
		c.running = p
	}
	p := c.running
	dying := context.AfterFunc(ctx, func() { p.Signal(os.Kill) })
	answer, err := p.request(r)
	if !dying() {
		c.running = nil
		p.Kill()
		return nil, context.Cause(ctx)
	}
	if err != nil || answer.Ended {
		c.running = nil
		if _ = p.End(); err != nil {
			return p.verdict(err)
		}
	}
	if answer.Error != "" {
		return nil, errors.New(answer.Error)
	}
	return answer.Result, nil
}

func (c *child) close() {
	if c.running != nil {
		c.running.Kill()
		c.running = nil
	}
}

func (c Command) start() (*playing, error) {
	p := &playing{answers: make(chan string, 1)}
	var err error
	p.Process, err = process.Start([]string{c.Path, "child"}, c.Env, func(line string) {
		select {
		case p.answers <- line:
		default: // not requested
		}
	})
	return p, err
}

func (p *playing) request(r request) (answer response, err error) {
	// A child that does not report a hang is killed, which ends the read.
	kill := time.AfterFunc(r.Patience+grace, func() {
		p.silent.Store(true)
		p.Signal(os.Kill)
	})
	defer kill.Stop()
	if err := json.NewEncoder(p).Encode(r); err != nil {
		return answer, err
	}
	var line string
	select {
	case line = <-p.answers:
	case <-p.Gone():
		select {
		case line = <-p.answers: // last answer
		default:
			return answer, io.EOF
		}
	}
	return answer, json.Unmarshal([]byte(line), &answer)
}

// verdict interprets the end of a process without an answer.
func (p *playing) verdict(cause error) (*runner.Result, error) {
	text, state := p.Errors(), p.State()
	f := &runner.Failure{Kind: runner.Invariant, What: fmt.Sprintf("the process crashed: %v\n%s", state, text)}
	switch code := state.ExitCode(); {
	case code == 0:
		return nil, fmt.Errorf("a child gave no answer: %w", cause)
	case code == ExitRace || strings.Contains(text, "WARNING: DATA RACE"):
		f.Kind, f.What = runner.Race, "a data race\n"+text
	case p.silent.Load():
		f.Kind, f.What = runner.Liveness, "the process did not answer, nor tell where it hangs\n"+text
	case text == "" && code < 0:
		return nil, fmt.Errorf("a child was ended from outside: %v", state)
	}
	return &runner.Result{Failure: f}, nil
}
