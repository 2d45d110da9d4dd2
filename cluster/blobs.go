package cluster

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

	// List returns all names.
	List(ctx context.Context) ([]string, error)

	// Delete removes what is kept under this name. That there is nothing is no error.
	Delete(ctx context.Context, name string) error
}

// Folder returns Blobs in a folder, say of a file system that all nodes share. What Put
// returned for is on the disk.
func Folder(dir string) Blobs { return folder(dir) }

type folder string

// partial ends the name of a file that is not whole.
const partial = ".tmp"

func (f folder) Put(ctx context.Context, name string, r io.Reader) (err error) {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(string(f), name+"-*"+partial)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, r)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(string(f), name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return f.sync()
}

// sync makes the names in the folder durable, where a folder can be synced.
func (f folder) sync() error {
	dir, err := os.Open(string(f))
	if err != nil {
		return err
	}
	_ = dir.Sync()
	return dir.Close()
}

func (f folder) Get(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(filepath.Join(string(f), name))
}

func (f folder) List(context.Context) (names []string, err error) {
	files, err := os.ReadDir(string(f))
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
	err := os.Remove(filepath.Join(string(f), name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
