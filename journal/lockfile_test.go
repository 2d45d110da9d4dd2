package journal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A lock file or a folder that is removed or replaced ends the journal when the next
// segment begins.
func TestLock_LossBreaksTheJournal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows removes no file that is open")
	}
	for name, lose := range map[string]func(dir string) error{
		"lock removed":   func(dir string) error { return os.Remove(filepath.Join(dir, lockName)) },
		"folder removed": os.RemoveAll,
		"folder renamed": func(dir string) error { return os.Rename(dir, dir+"-2") },
		"lock replaced": func(dir string) error {
			path := filepath.Join(dir, lockName)
			if err := os.WriteFile(path+"-2", nil, 0o600); err != nil {
				return err
			}
			return os.Rename(path+"-2", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "log")
			j, err := Open(dir, Options{SegmentBytes: leastSegment, background: inline})
			if err != nil {
				t.Fatal(err)
			}
			mustAppend(t, j, 1, 1)
			if err := lose(dir); err != nil {
				t.Fatal(err)
			}
			at := uint64(2)
			for ; err == nil && at < 100; at++ {
				_, err = j.Append(context.Background(), at-1, record(at))
			}
			if !errors.Is(err, ErrBroken) || !errors.Is(err, errLockLost) {
				t.Errorf("record %d: %v", at, err)
			}
			if len(j.segments) > 1 {
				t.Errorf("segments %d", j.segments)
			}
			if err := j.Close(); !errors.Is(err, ErrBroken) {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

func TestOpen_NamesPackageAndCause(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path, Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "journal: open "+path+": ") {
		t.Errorf("Open of a file: %v", err)
	}
	_, err = Inspect(path, func(uint64, []byte) error { return nil })
	if err == nil || !strings.HasPrefix(err.Error(), "journal: inspect "+path+": ") {
		t.Errorf("Inspect of a file: %v", err)
	}
	_, err = Repair(context.Background(), path, 1)
	if err == nil || !strings.HasPrefix(err.Error(), "journal: repair "+path+": ") {
		t.Errorf("Repair of a file: %v", err)
	}
}
