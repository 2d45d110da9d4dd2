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

// Blobs is a place for snapshots that every node reaches: a folder that they share, a
// service for objects, or JetStream itself. Names are of letters, digits, dots and dashes.
//
// Its methods are called by several goroutines.
type Blobs interface {
	// Put keeps what r gives under this name, whole or not at all, instead of what was
	// there.
	Put(ctx context.Context, name string, r io.Reader) error

	// Get opens what is kept under this name. An error that is [io/fs.ErrNotExist] says
	// that there is nothing.
	Get(ctx context.Context, name string) (io.ReadCloser, error)

	// Names returns all names.
	Names(ctx context.Context) ([]string, error)

	// Delete removes what is kept under this name. That there is nothing is no error.
	Delete(ctx context.Context, name string) error
}

// Folder returns Blobs in a folder, say of a file system that all nodes share. What Put
// returned for is on the disk.
func Folder(dir string) Blobs { return folder{dir, (*os.File).Sync} }

type folder struct {
	dir  string
	sync func(f *os.File) error
}

// partial ends the name of a file that is not whole.
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

// create creates the folder, and those it is in, and syncs their names.
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

// syncNames makes the names in the folder durable, where the system can sync a folder.
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
