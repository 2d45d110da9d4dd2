// Package process starts children that report what they do, a line at a time, and that may
// be killed at any moment.
package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// A Process is a child that was started. Its methods are for one goroutine.
type Process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	errs tail
	gone chan struct{} // closed when it has ended and all that it said was heard
}

// Start starts a child, with more variables in its environment. One goroutine gives onLine
// the lines of the child, one after another, of up to 16 MiB. The thread that it is called
// by must live as long as the run: where the system can, a child dies with it.
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
		for lines.Buffer(nil, 16<<20); lines.Scan(); {
			onLine(lines.Text())
		}
		_ = p.cmd.Wait()
	}()
	return p, nil
}

// Write writes to the standard input of the child.
func (p *Process) Write(b []byte) (int, error) { return p.in.Write(b) }

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

// State returns the state in which the child, which is gone, has ended.
func (p *Process) State() *os.ProcessState { return p.cmd.ProcessState }

// Errors returns the first and the last of the standard error of the child, which is gone.
func (p *Process) Errors() string { return p.errs.String() }

// tail keeps the first and the last of what is written to it.
type tail struct {
	text []byte
	cut  bool
}

const tailBytes = 64 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	if len(t.text) > 2*tailBytes {
		t.text = append(t.text[:tailBytes:tailBytes], t.text[len(t.text)-tailBytes:]...)
		t.cut = true
	}
	return len(b), nil
}

func (t *tail) String() string {
	if t.cut {
		return string(t.text[:tailBytes]) + "\n...\n" + string(t.text[tailBytes:])
	}
	return string(t.text)
}
