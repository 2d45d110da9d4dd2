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
			j, err := Open(dir, Options{SegmentBytes: minSegment, background: inline})
			noError(t, err)
			mustAppend(t, j, 1, 1)
			noError(t, lose(dir))
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
			wantError(t, j.Close(), ErrBroken)
		})
	}
}

func TestOpen_NamesPackageAndCause(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	noError(t, os.WriteFile(path, nil, 0o600))
	_, opened := Open(path, Options{})
	_, inspected := inspectFolder(path, func(uint64, []byte) error { return nil })
	_, repaired := Repair(context.Background(), path, 1)
	for op, err := range map[string]error{"open": opened, "inspect": inspected, "repair": repaired} {
		if err == nil || !strings.HasPrefix(err.Error(), "journal: "+op+" "+path+": ") {
			t.Errorf("%s of a file: %v", op, err)
		}
	}
}
