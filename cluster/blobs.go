package cluster

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// Blobs is a storage of snapshots shared by all nodes: a folder, an object service, or
// JetStream. Names consist of letters, digits, dots and dashes. Several goroutines may call its
// methods.
type Blobs interface {
	// Put stores the bytes of r atomically, replacing older ones.
	Put(ctx context.Context, name string, r io.Reader) error

	// Get opens the bytes of name. It fails with [io/fs.ErrNotExist] if there are none.
	Get(ctx context.Context, name string) (io.ReadCloser, error)

	// Names returns all names.
	Names(ctx context.Context) ([]string, error)

	// Delete removes the bytes of name, if any.
	Delete(ctx context.Context, name string) error
}

// Folder returns Blobs in a folder, for example of a shared file system. Put syncs the bytes to
// disk.
func Folder(dir string) Blobs { return folder{dir, (*os.File).Sync} }

type folder struct {
	dir  string
	sync func(f *os.File) error
}

const partial = ".tmp"

func (f folder) Put(ctx context.Context, name string, r io.Reader) (err error) {
	if err := f.create(); err != nil {
		return err
	}
	file, err := os.CreateTemp(f.dir, name+"-*"+partial)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, r)
	if err == nil {
		err = f.sync(file)
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(f.dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return f.syncNames()
}

func (f folder) create() error {
	if _, err := os.Stat(f.dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := folder{filepath.Dir(f.dir), f.sync}
	if err := parent.create(); err != nil {
		return err
	}
	if err := os.Mkdir(f.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return parent.syncNames()
}

// syncNames syncs the folder's names where the system supports it.
func (f folder) syncNames() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(f.dir)
	if err != nil {
		return err
	}
	if err = f.sync(dir); errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, dir.Close())
}

func (f folder) Get(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(filepath.Join(f.dir, name))
}

func (f folder) Names(context.Context) (names []string, err error) {
	files, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), partial) {
			names = append(names, file.Name())
		}
	}
	return names, err
}

func (f folder) Delete(_ context.Context, name string) error {
	err := os.Remove(filepath.Join(f.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
