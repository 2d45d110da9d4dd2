package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// nodes is how many there are: as many as a quorum needs to outlive one.
const nodes = 3

// workersOf has each node run with another number, for that makes no difference.
var workersOf = [nodes]int{1, 2, 8}

// A fleet is the processes of the nodes, and what they are told: where each listens, and
// what folder is its own.
type fleet struct {
	dir     string
	hz      int
	clients [nodes]string // addresses of the servers
	routes  [nodes]string // likewise, for one another

	lock  sync.Mutex
	nodes [nodes]process
}

// process is one node, which may be down.
type process struct {
	command *exec.Cmd
	in      io.Closer // ends it in order
	url     string    // "" until it plays
	ended   chan struct{}
	said    string // the last thing on its standard error
	kills   int
}

func newFleet(dir string, hz int) (*fleet, error) {
	f := &fleet{dir: dir, hz: hz}
	var held []net.Listener
	defer func() {
		for _, l := range held {
			_ = l.Close()
		}
	}()
	for _, addresses := range []*[nodes]string{&f.clients, &f.routes} {
		for i := range addresses {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return nil, err
			}
			held = append(held, l)
			addresses[i] = l.Addr().String()
		}
	}
	return f, nil
}

// start starts node i. It plays when url says where.
func (f *fleet) start(i int) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(path, nodeCommand, fmt.Sprint(i), fmt.Sprint(workersOf[i]), fmt.Sprint(f.hz),
		filepath.Join(f.dir, fmt.Sprint("node", i+1)), strings.Join(f.clients[:], ","), strings.Join(f.routes[:], ","))
	in, err1 := c.StdinPipe()
	out, err2 := c.StdoutPipe()
	errs, err3 := c.StderrPipe()
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return err
		}
	}
	if err := c.Start(); err != nil {
		return err
	}
	p := process{command: c, in: in, ended: make(chan struct{})}
	f.lock.Lock()
	p.kills = f.nodes[i].kills
	f.nodes[i] = p
	f.lock.Unlock()
	go f.follow(i, c, out, errs, p.ended)
	return nil
}

// follow reads what node i says, until it ends.
func (f *fleet) follow(i int, c *exec.Cmd, out, errs io.Reader, ended chan<- struct{}) {
	defer close(ended)
	var both sync.WaitGroup
	lines := func(r io.Reader, each func(p *process, line string)) {
		for s := bufio.NewScanner(r); s.Scan(); {
			f.lock.Lock()
			each(&f.nodes[i], s.Text())
			f.lock.Unlock()
		}
	}
	both.Go(func() { lines(out, func(p *process, line string) { p.url = line }) })
	both.Go(func() { lines(errs, func(p *process, line string) { p.said = line }) })
	both.Wait()
	err := c.Wait()
	f.lock.Lock()
	defer f.lock.Unlock()
	f.nodes[i].url = ""
	if f.nodes[i].said == "" && err != nil {
		f.nodes[i].said = err.Error()
	}
}

// url returns where node i answers, "" while it does not.
func (f *fleet) url(i int) string {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.nodes[i].url
}

// failed returns why a node has ended that nobody ended.
func (f *fleet) failed(i int) (said string, failed bool) {
	f.lock.Lock()
	defer f.lock.Unlock()
	p := &f.nodes[i]
	select {
	case <-p.ended:
		return p.said, p.command.ProcessState != nil && p.command.ProcessState.Exited()
	default:
		return "", false
	}
}

// kill ends node i as a power cut would, and returns when it is gone.
func (f *fleet) kill(i int) {
	f.lock.Lock()
	p := &f.nodes[i]
	p.url = ""
	p.kills++
	ended := p.ended
	_ = p.command.Process.Kill()
	f.lock.Unlock()
	<-ended
}

// close ends all nodes: first in order, and who takes too long at once.
func (f *fleet) close() {
	ctx, end := context.WithTimeout(context.Background(), 10*time.Second)
	defer end()
	for i := range f.nodes {
		if p := f.process(i); p.command != nil {
			_ = p.in.Close()
		}
	}
	for i := range f.nodes {
		p := f.process(i)
		if p.command == nil {
			continue
		}
		select {
		case <-p.ended:
		case <-ctx.Done():
			_ = p.command.Process.Kill()
			<-p.ended
		}
	}
}

func (f *fleet) process(i int) process {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.nodes[i]
}
