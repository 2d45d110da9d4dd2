package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"handloom/internal/lockfile"
)

// A disk is what a Journal needs of a folder: few calls, each of which may fail
// or be the last one before the power is lost.
type disk interface {
	list() ([]string, error)
	create(name string) (file, error) // empty, instead of any there was
	open(name string) (file, error)
	rename(from, to string) error
	remove(name string) error
	mkdir(name string) error
	sync() error // of the names in the folder
	lock() (io.Closer, error)
}

// A file of a disk.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	size() (int64, error)
	sync() error // of the bytes, and of what it takes to read them back
}

// folder is a disk: a folder of the operating system.
type folder string

func (d folder) path(name string) string { return filepath.Join(string(d), name) }

func (d folder) list() ([]string, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func (d folder) create(name string) (file, error) {
	return d.openFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

func (d folder) open(name string) (file, error) { return d.openFile(name, os.O_RDWR) }

func (d folder) openFile(name string, flag int) (file, error) {
	f, err := os.OpenFile(d.path(name), flag, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (d folder) rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d folder) remove(name string) error {
	if err := os.Remove(d.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d folder) mkdir(name string) error { return os.Mkdir(d.path(name), 0o700) }

func (d folder) sync() error { return syncFolder(string(d)) }

// lock makes the folder if there is none, and locks it.
func (d folder) lock() (io.Closer, error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	if err := syncFolder(filepath.Dir(filepath.Clean(string(d)))); err != nil {
		return nil, err
	}
	lock, err := lockfile.Lock(d.path("lock"))
	if errors.Is(err, lockfile.ErrHeld) {
		return nil, fmt.Errorf("%w: %s", ErrLocked, d.path("lock"))
	}
	return lock, err
}

// osFile is a file of the operating system.
type osFile struct{ *os.File }

func (f osFile) size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f osFile) sync() error { return syncData(f.File) }
