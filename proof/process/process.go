// Package process starts children that tell what they do, a line at a time, and that may be
// killed at any moment.
package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A Process is a child that was started. Its methods are for one goroutine.
type Process struct {
	cmd  *exec.Cmd
	in   io.Closer
	errs strings.Builder
	gone chan struct{} // closed when it has ended and all that it said was heard
}

// Start starts a child, each line of which hear is given, one after another by one goroutine.
// The thread that it is called by must live as long as the run: where the system can, a
// child dies with it.
func Start(command []string, hear func(line string)) (*Process, error) {
	p := &Process{cmd: exec.Command(command[0], command[1:]...), gone: make(chan struct{})}
	p.cmd.Stderr = &p.errs
	p.cmd.SysProcAttr = attributes()
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
	p.in = in
	go func() {
		defer close(p.gone)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			hear(lines.Text())
		}
		_ = p.cmd.Wait()
	}()
	return p, nil
}

// Signal sends a signal, unless the child has ended.
func (p *Process) Signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }

// Kill kills the child, and returns when all that it had said is heard.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.gone
	p.in.Close()
}

// endTime is how long a child may take to end by itself.
const endTime = 20 * time.Second

// End lets the child end, and says why it did not, or how it failed.
func (p *Process) End() error {
	p.in.Close()
	select {
	case <-p.gone:
	case <-time.After(endTime):
		p.Kill()
		return fmt.Errorf("it has not ended after %v", endTime)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("it ended with exit code %d: %s", code, p.Errors())
	}
	return nil
}

// Gone is closed when the child has ended and all that it had said is heard.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Killed reports whether a signal has ended the child, which is gone.
func (p *Process) Killed() bool { return p.cmd.ProcessState.ExitCode() < 0 }

// Errors returns what the child, which is gone, wrote to its standard error.
func (p *Process) Errors() string { return p.errs.String() }
