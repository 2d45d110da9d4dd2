//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

func TestDescriptors_LimitOfTheProcess(t *testing.T) {
	const env = "JOURNAL_NO_DESCRIPTORS"
	if os.Getenv(env) == "" {
		c := exec.Command(os.Args[0], "-test.run=^TestDescriptors_LimitOfTheProcess$", "-test.v")
		c.Env = append(os.Environ(), env+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	var limit syscall.Rlimit
	noError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	dir := t.TempDir()
	o := Options{SegmentBytes: minSegment, background: inline}
	j := mustOpenDir(t, dir, o)
	ctx := context.Background()
	refusals := 0
	for at := uint64(1); at <= 100; at++ {
		none := limit
		none.Cur = 3 // open files stay open
		noError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none))
		_, err := j.Append(ctx, at-1, record(at))
		noError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
		if err == nil {
			continue
		}
		if refusals++; !errors.Is(err, ErrRefused) || errors.Is(err, ErrBroken) || !errors.Is(err, syscall.EMFILE) {
			t.Fatalf("record %d: %v", at, err)
		}
		mustAppend(t, j, at, at)
	}
	failIf(t, refusals == 0, "no record was refused")
	mustClose(t, j)
	j = mustOpenDir(t, dir, o)
	wantRecords(t, j, 100)
	mustClose(t, j)
}
