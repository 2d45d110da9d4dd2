// Package process starts children that report by lines and may be killed at any
// time.
package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Process is a started child. Its methods are for one goroutine.
type Process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	errs tail
	gone chan struct{} // closed when the child has ended and its output is read
}

// Start starts a child with additional environment variables. One goroutine
// calls onLine for each line of output, up to 16 MiB long. The calling thread
// must outlive the child: on Linux, the child dies with it.
func Start(command, env []string, onLine func(line string)) (*Process, error) {
	p := &Process{cmd: exec.Command(command[0], command[1:]...), gone: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
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
		lines := bufio.NewScanner(out)
		// The output is read to its end before Wait, which closes the pipe.
		for lines.Buffer(nil, 16<<20); lines.Scan(); {
			onLine(lines.Text())
		}
		_ = p.cmd.Wait()
	}()
	return p, nil
}

// Signal sends a signal. A child that has ended is not an error.
func (p *Process) Signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }

// Kill kills the child and returns when its output is read.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	// Every line that the child wrote reaches onLine first.
	<-p.gone
	p.in.Close()
}

const endTime = time.Minute

// End closes the standard input of the child, waits for its end, and returns
// its failure. It kills a child that takes longer than endTime.
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

// Gone returns a channel that is closed when the child has ended and its output
// is read.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// State returns the state of an ended child.
func (p *Process) State() *os.ProcessState { return p.cmd.ProcessState }

// Errors returns the last mebibyte of the standard error of the child.
func (p *Process) Errors() string { return string(p.errs) }

// tail keeps the last part of its input, at least tailBytes.
type tail []byte

const tailBytes = 1 << 20

// Write never fails, so the standard error of the child is always read.
func (t *tail) Write(b []byte) (int, error) {
	if *t = append(*t, b...); len(*t) > 2*tailBytes {
		*t = (*t)[len(*t)-tailBytes:]
	}
	return len(b), nil
}
