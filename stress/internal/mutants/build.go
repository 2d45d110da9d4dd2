package mutants

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Build has the test binaries of some packages, with faults. An empty Variable
// leaves all faults out.
type Build struct {
	root, dir, overlay string
	passed             map[string]bool // tests without a fault
}

// NewBuild writes the overlay of faults to a temporary folder, until Remove.
func NewBuild(ctx context.Context, all []*Fault) (*Build, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Module.Dir}}", "handloom/store").Output()
	if err != nil {
		return nil, fmt.Errorf("faults are put into the source, which is not here, or there is no Go toolchain: %w", err)
	}
	dir, err := os.MkdirTemp("", "handloom-stress-")
	if err != nil {
		return nil, err
	}
	b := &Build{root: strings.TrimSpace(string(root)), dir: dir, passed: make(map[string]bool)}
	if b.overlay, err = Overlay(all, b.root, dir); err != nil {
		b.Remove()
	}
	return b, err
}

func (b *Build) Remove() { os.RemoveAll(b.dir) }

// Find returns the first line of the failure if the test of the fault fails with
// the fault and passes without it, "" if it passes with it, and the time of the
// test with the fault.
func (b *Build) Find(ctx context.Context, f *Fault) (finding string, took time.Duration, err error) {
	binary := filepath.Join(b.dir, strings.ReplaceAll(f.Package, "/", "-")+".test")
	if _, missing := os.Stat(binary); missing != nil {
		build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", b.overlay, "-o", binary, f.Package)
		build.Dir = b.root
		if out, err := build.CombinedOutput(); err != nil {
			return "", 0, fmt.Errorf("go test -c with faults: %w: %s", err, strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", "; "))
		}
	}
	begun := time.Now()
	finding, err = b.runParts(ctx, binary, f, f.Name)
	took = time.Since(begun)
	test := f.Package + " " + f.Test
	if finding == "" || err != nil || b.passed[test] {
		return finding, took, err
	}
	without, err := b.runParts(ctx, binary, f, "")
	if err == nil && without != "" {
		err = fmt.Errorf("%s of %s fails without the fault, too: %s", f.Test, f.Package, without)
	}
	b.passed[test] = err == nil
	return finding, took, err
}

// runParts runs the parts of a test at the same time, until one fails.
func (b *Build) runParts(ctx context.Context, binary string, f *Fault, fault string) (finding string, err error) {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	var once sync.Once
	for _, args := range f.parts() {
		running.Go(func() {
			if part, failed := b.run(ctx, binary, f, args, fault); part != "" || failed != nil {
				once.Do(func() { finding, err = part, failed })
				stop() // the first is enough
			}
		})
	}
	running.Wait()
	stop()
	return finding, err
}

// run runs a part of the test of a fault and returns the first line of its failure, or "".
func (b *Build) run(ctx context.Context, binary string, f *Fault, args []string, fault string) (finding string, err error) {
	test := exec.CommandContext(ctx, binary, append(args, "-test.v", "-test.timeout=10m")...)
	test.Dir, test.Env = filepath.Join(b.root, f.Package), append(os.Environ(), Variable+"="+fault, "GOGC=800")
	out, failed := test.CombinedOutput()
	text := string(out)
	for _, mark := range []string{"--- FAIL: " + f.Test + " ", "panic: ", "fatal error: "} {
		if failed != nil && strings.Contains(text, mark) {
			return findingOf(text), nil
		}
	}
	if failed == nil && strings.Contains(text, "--- PASS: "+f.Test+" ") {
		return "", nil
	}
	return "", fmt.Errorf("%s of %s came to no end: %v\n%s", f.Test, f.Package, failed, text)
}

// findingOf returns the first line of an output that reports a failure.
func findingOf(text string) string {
	for line := range strings.Lines(text) {
		if _, message, ok := strings.Cut(line, "_test.go:"); ok {
			_, message, _ = strings.Cut(message, ": ")
			return strings.TrimSpace(message)
		}
	}
	return "its test fails"
}
