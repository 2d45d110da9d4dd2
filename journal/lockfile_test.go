package journal

import (
	"context"
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
			j := mustOpenDir(t, dir, Options{SegmentBytes: minSegment, background: inline})
			mustAppend(t, j, 1, 1)
			noError(t, lose(dir))
			at, err := uint64(2), error(nil)
			for ; err == nil && at < 100; at++ {
				_, err = j.Append(context.Background(), at-1, record(at))
			}
			wantError(t, err, ErrBroken, errLockLost)
			failIf(t, len(j.segments) > 1, "segments %d", j.segments)
			wantError(t, j.Close(), ErrBroken)
		})
	}
}

// Without its checksum the lock file names no segment.
func TestOpen_DamagedLockFileNamesNothing(t *testing.T) {
	whole, _, _ := fifty(t)
	for bit := range 8 * lockBytes {
		d := whole.clone()
		d.files[lockName].bytes[bit/8] ^= 1 << (bit % 8)
		j := mustOpen(t, small(d))
		wantRecords(t, j, units)
		mustClose(t, j)
	}
}

func TestOpen_NamesPackageAndCause(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	noError(t, os.WriteFile(path, nil, 0o600))
	_, opened := Open(path, Options{})
	_, inspected := inspectFolder(path, func(uint64, []byte) error { return nil })
	_, repaired := Repair(context.Background(), path, 1)
	for op, err := range map[string]error{"open": opened, "inspect": inspected, "repair": repaired} {
		failIf(t, err == nil || !strings.HasPrefix(err.Error(), "journal: "+op+" "+path+": "), "%s of a file: %v", op, err)
	}
}
