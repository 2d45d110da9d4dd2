//go:build unix

package history_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"handloom/history"
	"handloom/journal"
)

// Diff returns when its context ends or a program fails, and no process outlives it.
func TestDiff_EndsItsPrograms(t *testing.T) {
	r := inArena(t, "none", 100)
	none, hangs := built(t, "arena+none+0+0"), built(t, "arena+hangs+60+0")
	ctx, end := context.WithCancelCause(t.Context())
	gone := errors.New("the user left")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(hangs + ".now"); err == nil {
				end(gone)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := history.Diff(ctx, r.dir, none, hangs, history.DiffOptions{})
	if !errors.Is(err, gone) {
		t.Errorf("got %v, want %v", err, gone)
	}
	var status syscall.WaitStatus
	if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("process %d is left: %v", pid, err)
	}
	for _, c := range []struct {
		dir, next string
		is        error
	}{
		{r.dir, filepath.Join(t.TempDir(), "none"), os.ErrNotExist},
		{filepath.Join(t.TempDir(), "none"), none, os.ErrNotExist},
		{damaged(t, r.dir), none, journal.ErrCorrupt},
	} {
		if _, err := history.Diff(t.Context(), c.dir, none, c.next, history.DiffOptions{}); !errors.Is(err, c.is) || !strings.HasPrefix(err.Error(), "history: Diff: ") {
			t.Errorf("got %v, want %v", err, c.is)
		}
	}
}
