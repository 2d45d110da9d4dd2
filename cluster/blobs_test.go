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

// syncs fails one sync. A file has another name once the snapshot has its name.
type syncs struct {
	root string
	fail string // file whose sync fails
	with error
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
	if what == s.fail {
		return s.with
	}
	return f.Sync()
}

func TestFolder_PutReportsFailedSync(t *testing.T) {
	for _, fail := range []string{".", "shared", "file", "shared/blobs, named"} {
		for with, want := range map[error]error{syscall.EIO: syscall.EIO, syscall.EINVAL: nil, errors.ErrUnsupported: nil} {
			if fail == "file" {
				want = with // all systems can sync files
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
			if left, err := filepath.Glob(filepath.Join(s.root, "shared", "blobs", "*"+partial)); err != nil || left != nil {
				t.Errorf("left: %q, %v", left, err)
			}
		}
	}
}

type onRead func()

func (f onRead) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

func TestFolder_NamesOmitsIncompletePuts(t *testing.T) {
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

// alteringBlobs gives other bytes back.
type alteringBlobs struct{ Blobs }

func (a alteringBlobs) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := a.Blobs.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(r, strings.NewReader("more")), r}, nil
}

// A save reads the snapshot back before it stores the sum, which makes the snapshot whole.
func TestPairs_SaveReadsBack(t *testing.T) {
	p := pairs{alteringBlobs{Folder(t.TempDir())}, 7}
	_, err := p.save(t.Context(), 3, func(w io.Writer) error {
		_, err := io.WriteString(w, "state")
		return err
	})
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("save of altered bytes: %v", err)
	}
	if names, err := p.blobs.Names(t.Context()); err != nil || slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, sumExt) }) {
		t.Errorf("after the save: %q, %v", names, err)
	}
}
