package localnet

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"handloom/proof/process"
)

func init() { testNode = syncForever }

// syncForever prints the duration of each fsync or fdatasync.
func syncForever(ctx context.Context, c *process.Child, words []string) error {
	f, err := os.Create(filepath.Join(words[0], "file"))
	if err != nil {
		return err
	}
	defer f.Close()
	sync := map[string]func(fd int) error{"fsync": unix.Fsync, "fdatasync": unix.Fdatasync}[words[1]]
	for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
		begun := time.Now()
		if err := sync(int(f.Fd())); err != nil {
			return err
		}
		c.Logf("%v", time.Since(begun))
	}
	return nil
}

func TestSlowDisk_DelaysSyncs(t *testing.T) {
	for _, call := range []string{"fsync", "fdatasync"} {
		t.Run(call, func(t *testing.T) {
			path, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			lines := make(chan string, 1)
			p, err := process.Start([]string{path, ChildCommand, nodeChild, t.TempDir(), call}, nil, func(line string) {
				if strings.HasPrefix(line, "fail") {
					t.Error(line)
				}
				select {
				case lines <- line:
				default: // only the present matters
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Kill()
			await := func(slow bool) {
				for !t.Failed() {
					took, err := time.ParseDuration(<-lines)
					if err != nil {
						t.Error(err)
					}
					if slow == (took >= syncDelay) {
						return
					}
				}
			}
			await(false)
			p.Signal(slowDisk)
			await(true)
			p.Signal(proceed)
			await(false)
		})
	}
}
