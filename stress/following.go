package main

import (
	"fmt"
	"runtime"
	"time"

	"handloom/internal/cli"
)

// following shows how far a run is.
type following struct {
	progress *cli.Progress
	done     int // events at the last line
}

// follow prints what runs and the command that repeats it.
func (p *command) follow(title, again string) *following {
	fmt.Fprintf(p.stdout, "%s\n%s, %s %s/%s, GOMAXPROCS %d\n", again, title, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	return &following{progress: cli.NewProgress(p.stderr, time.Now)}
}

func (f *following) notify(line string) {
	f.progress.Show(func(time.Duration) string { return line })
}

// end prints the verdict last.
func (p *command) end(f *following, o cli.Verdict) int {
	f.progress.Clear()
	fmt.Fprintln(p.stdout, o)
	return o.Exit
}
