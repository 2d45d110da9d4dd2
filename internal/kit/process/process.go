//go:build unix

package nemesis

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// A process is a child that runs.
type process struct {
	cmd  *exec.Cmd
	in   io.Closer
	errs strings.Builder
	gone chan struct{} // closed when it has ended and all that it said was heard
}

// start starts a child, each line of which hear is given. It must be called by the thread
// that lives as long as the run: where the system can, a child dies with it.
func start(command, words []string, hear func(line string)) (*process, error) {
	words = append(append(command[1:len(command):len(command)], ChildCommand), words...)
	p := &process{cmd: exec.Command(command[0], words...), gone: make(chan struct{})}
	p.cmd.Stderr = &p.errs
	p.cmd.SysProcAttr = attributes() // Ctrl-C is for the parent alone
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

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// kill kills the child, and returns when all that it had said is heard.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.gone
	p.in.Close()
}

// endTime is how long a child may take to end by itself.
const endTime = 20 * time.Second

// end lets the child end, and says why it did not.
func (p *process) end() error {
	p.in.Close()
	select {
	case <-p.gone:
	case <-time.After(endTime):
		p.kill()
		return fmt.Errorf("it has not ended after %v", endTime)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("it ended with exit code %d: %s", code, p.errs.String())
	}
	return nil
}

// ended reports whether the child has ended.
func (p *process) ended() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}
