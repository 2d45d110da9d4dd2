package cluster_test

import (
	"context"
	"os"
	"testing"
	"time"

	"handloom/cluster"
	"handloom/proof/process"
)

const lockArg = "open-embedded"

// openEmbedded opens a log in dir, and closes it when its input ends.
func openEmbedded(dir string) (exit int) {
	return process.Serve(os.Stdin, os.Stdout, func(ctx context.Context, c *process.Child) error {
		l, err := cluster.Open(ctx, cluster.Embedded(dir), 1, cluster.Options{Snapshots: cluster.Folder(dir + "/blobs")})
		if err != nil {
			return err
		}
		c.Logf("open")
		<-ctx.Done()
		return l.Close()
	})
}

func startEmbedded(t *testing.T, dir string) *process.Process {
	t.Helper()
	lines := make(chan string, 4)
	p, err := process.Start([]string{os.Args[0], lockArg, dir}, nil, func(line string) { lines <- line })
	noError(t, err)
	t.Cleanup(p.Kill)
	select {
	case line := <-lines:
		if line != "open" {
			t.Fatalf("the process said %q", line)
		}
	case <-time.After(patience):
		t.Fatal("the process opens no log")
	}
	return p
}

// wantLocked fails the test unless Open and Reseed refuse dir.
func wantLocked(t *testing.T, dir string) {
	t.Helper()
	l, err := cluster.TryOpen(t, cluster.Embedded(dir), 1, alone(t))
	if err == nil {
		mustClose(t, l)
	}
	wantError(t, err, cluster.ErrLocked, dir)
	wantError(t, cluster.TryReseed(t, cluster.Embedded(dir), 1, withJournal(t, openJournal(t, t.TempDir())), stateAt(t, 0)), cluster.ErrLocked)
}

func TestEmbedded_LocksFolder(t *testing.T) {
	t.Parallel()
	t.Run("another process", func(t *testing.T) {
		dir := t.TempDir()
		p := startEmbedded(t, dir)
		wantLocked(t, dir)
		noError(t, p.End())
		fill(t, openLog(t, cluster.Embedded(dir), 1, alone(t)), 3)
	})
	t.Run("a process that is killed", func(t *testing.T) {
		dir := t.TempDir()
		startEmbedded(t, dir).Kill()
		fill(t, openLog(t, cluster.Embedded(dir), 1, alone(t)), 3)
	})
	t.Run("two values in one process", func(t *testing.T) {
		dir := t.TempDir()
		s := cluster.Embedded(dir)
		first, second := openLog(t, s, 1, alone(t)), openLog(t, s, 1, alone(t))
		fill(t, first, 3)
		wantLocked(t, dir)
		mustClose(t, first)
		wantLocked(t, dir) // the second Log still uses the server
		fill(t, second, 4)
		mustClose(t, second)
		fill(t, openLog(t, cluster.Embedded(dir), 1, alone(t)), 5)
	})
	t.Run("a server that does not start", func(t *testing.T) {
		dir := t.TempDir()
		noError(t, os.WriteFile(dir+"/jetstream", nil, 0o600))
		wantText(t, "Open with a file in the place of a folder", errorOf(cluster.TryOpen(t, cluster.Embedded(dir), 1, alone(t))), "is not a directory")
		noError(t, os.Remove(dir+"/jetstream"))
		fill(t, openLog(t, cluster.Embedded(dir), 1, alone(t)), 3)
	})
}
