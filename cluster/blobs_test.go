package cluster

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// syncs notes what of a Folder is synced, and whether the snapshot had its name then.
type syncs struct {
	root  string
	noted []string
	fail  string // what fails to be synced
	with  error
}

func (s *syncs) sync(f *os.File) error {
	what, err := filepath.Rel(s.root, f.Name())
	if err != nil {
		return err
	}
	if strings.HasSuffix(what, partial) {
		what = "file"
	}
	if _, err := os.Stat(filepath.Join(s.root, "shared", "blobs", "a.snap")); err == nil {
		what += ", named"
	}
	s.noted = append(s.noted, what)
	if what == s.fail {
		return s.with
	}
	return f.Sync()
}

// A snapshot that has its name is on the disk, and its name is when Put returns.
func TestFolder_SyncsWhatItPuts(t *testing.T) {
	s := &syncs{root: t.TempDir()}
	f := folder{filepath.Join(s.root, "shared", "blobs"), s.sync}
	for _, want := range [][]string{
		{".", "shared", "file", "shared/blobs, named"},
		{"file, named", "shared/blobs, named"},
	} {
		s.noted = nil
		if err := f.Put(t.Context(), "a.snap", strings.NewReader("state")); err != nil || !slices.Equal(s.noted, want) {
			t.Errorf("Put: %v, synced %q, want %q", err, s.noted, want)
		}
	}
}

func TestFolder_ReportsWhatIsNotSynced(t *testing.T) {
	for _, fail := range []string{".", "shared", "file", "shared/blobs, named"} {
		for with, want := range map[error]error{syscall.EIO: syscall.EIO, syscall.EINVAL: nil, errors.ErrUnsupported: nil} {
			if fail == "file" {
				want = with // every file can be synced
			}
			s := &syncs{root: t.TempDir(), fail: fail, with: with}
			f := folder{filepath.Join(s.root, "shared", "blobs"), s.sync}
			if err := f.Put(t.Context(), "a.snap", strings.NewReader("state")); !errors.Is(err, want) {
				t.Errorf("Put where the sync of %s is %v: %v, want %v", fail, with, err, want)
			}
			_, err := f.Get(t.Context(), "a.snap")
			if fail == "file" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a snapshot that is not synced has its name: %v", err)
			}
			if leftAt, err := filepath.Glob(filepath.Join(s.root, "shared", "blobs", "*"+partial)); err != nil || leftAt != nil {
				t.Errorf("left: %q, %v", leftAt, err)
			}
		}
	}
}

// onRead is an empty reader that calls a function.
type onRead func()

func (f onRead) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

func TestFolder_NamesNoPutThatEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := Folder(t.TempDir())
	list := func() {
		if names, err := f.Names(t.Context()); err != nil || names != nil {
			t.Errorf("names %q, %v, want none", names, err)
		}
	}
	err := f.Put(ctx, "a.snap", onRead(func() {
		list()
		cancel()
	}))
	if list(); !errors.Is(err, context.Canceled) {
		t.Errorf("Put: %v", err)
	}
}
