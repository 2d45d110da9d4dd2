package campaign

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"handloom/proof/runner"
)

// Command is how children are started.
type Command struct {
	Path string // of a program that calls [ServeChild] when its command is "child"
	Env  []string
}

// grace is how much longer than its patience a child may take, to tell that it
// has none left.
const grace = 10 * time.Second

// child is a process that plays programs, one at a time. It is started when it
// is first asked and again after it has ended. The zero Child has no command.
type child struct {
	Command Command

	running *process
}

type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *json.Decoder
	errors  tail
	silent  atomic.Bool // it said nothing for so long that it was killed
}

// play has a program played. A crash, a race and a program that does not end are
// failures of the result. An error says that there is no result; it is the cause
// of ctx when that ends first, which ends the process.
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
	dying := context.AfterFunc(ctx, func() { p.cmd.Process.Kill() })
	answer, err := p.ask(r)
	if !dying() {
		c.running = nil
		p.end(true)
		return nil, context.Cause(ctx)
	}
	if err != nil || answer.Ended {
		c.running = nil
		ended := p.end(false)
		if err != nil {
			return p.verdict(err, ended)
		}
	}
	if answer.Error != "" {
		return nil, errors.New(answer.Error)
	}
	return answer.Result, nil
}

// close ends the process and waits for it.
func (c *child) close() {
	if c.running != nil {
		c.running.end(true)
		c.running = nil
	}
}

func (c Command) start() (*process, error) {
	p := &process{cmd: exec.Command(c.Path, "child")}
	p.cmd.Env = append(os.Environ(), c.Env...)
	p.cmd.Stderr = &p.errors
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.in, p.answers = in, json.NewDecoder(bufio.NewReaderSize(out, 1<<16))
	return p, nil
}

// ask sends a request and waits for the answer.
func (p *process) ask(r request) (response, error) {
	// A child that does not even tell that it hangs is killed, which ends the
	// reading.
	kill := time.AfterFunc(r.Patience+grace, func() {
		p.silent.Store(true)
		p.cmd.Process.Kill()
	})
	defer kill.Stop()
	var answer response
	if err := json.NewEncoder(p.in).Encode(r); err != nil {
		return answer, err
	}
	return answer, p.answers.Decode(&answer)
}

// end closes the input of the process and waits for it to end.
func (p *process) end(kill bool) error {
	p.in.Close()
	if kill {
		p.cmd.Process.Kill()
	}
	return p.cmd.Wait()
}

// verdict says what the end of a process without an answer means.
func (p *process) verdict(cause, ended error) (*runner.Result, error) {
	text := p.errors.String()
	var exit *exec.ExitError
	if !errors.As(ended, &exit) {
		return nil, fmt.Errorf("a child gave no answer: %w; %v", cause, ended)
	}
	f := &runner.Failure{Kind: runner.Invariant, What: fmt.Sprintf("the process crashed: %v\n%s", exit, text)}
	switch {
	case exit.ExitCode() == ExitRace || strings.Contains(text, "WARNING: DATA RACE"):
		f.Kind, f.What = runner.Race, "a data race\n"+text
	case p.silent.Load():
		f.Kind, f.What = runner.Liveness, "the process did not answer, nor tell where it hangs\n"+text
	case text == "" && exit.ExitCode() < 0:
		return nil, fmt.Errorf("a child was ended from outside: %v", exit)
	}
	return &runner.Result{Failure: f}, nil
}

// tail keeps the first and the last of what is written to it.
type tail struct {
	lock sync.Mutex
	text []byte
	cut  bool
}

const tailBytes = 64 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.text = append(t.text, b...)
	if len(t.text) > 2*tailBytes {
		t.text = append(t.text[:tailBytes:tailBytes], t.text[len(t.text)-tailBytes:]...)
		t.cut = true
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.cut {
		return string(t.text[:tailBytes]) + "\n...\n" + string(t.text[tailBytes:])
	}
	return string(t.text)
}
