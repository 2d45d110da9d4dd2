package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"handloom/internal/lockfile"
)

// A disk is a file system. Tests fail calls or cut the power.
type disk interface {
	list() ([]string, error)
	stat(name string) (bytes int64, changed time.Time, err error)
	create(name string) (file, error) // truncates an existing file
	open(name string) (file, error)
	rename(from, to string) error
	remove(name string) error
	mkdir(name string) error
	sync(name string) error // makes the names in the folder, or in a subfolder, durable
	lock() (file, error)    // until the file is closed
	held() error            // errLockLost if the lock file was replaced
}

type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	size() (int64, error)
	sync() error // makes bytes and size durable
}

const renameCloses = runtime.GOOS == "windows"

type osDir struct {
	dir string

	mutex   sync.Mutex
	locked  *os.File // nil: not locked
	dirFile *os.File // the open folder while it is locked, if the system syncs names
}

func newFolder(dir string) *osDir { return &osDir{dir: dir} }

func (d *osDir) path(name string) string { return filepath.Join(d.dir, name) }

// list needs no file descriptor while the folder is open.
func (d *osDir) list() ([]string, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	entries, err := d.entries()
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

func (d *osDir) entries() ([]fs.DirEntry, error) {
	if d.dirFile == nil {
		return os.ReadDir(d.dir)
	}
	if _, err := d.dirFile.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return d.dirFile.ReadDir(-1)
}

func (d *osDir) stat(name string) (bytes int64, changed time.Time, err error) {
	info, err := os.Stat(d.path(name))
	if err != nil {
		return 0, time.Time{}, err
	}
	return info.Size(), info.ModTime(), nil
}

func (d *osDir) create(name string) (file, error) {
	return d.openFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

func (d *osDir) open(name string) (file, error) { return d.openFile(name, os.O_RDWR) }

func (d *osDir) openFile(name string, flag int) (file, error) {
	f, err := os.OpenFile(d.path(name), flag, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (d *osDir) rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d *osDir) remove(name string) error {
	if err := os.Remove(d.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d *osDir) mkdir(name string) error { return os.Mkdir(d.path(name), 0o700) }

func (d *osDir) sync(name string) error {
	if name == "" && d.dirFile != nil {
		return d.dirFile.Sync()
	}
	return syncFolder(d.path(name))
}

// lock creates and locks the folder, and keeps it open: a segment then needs no other
// descriptor.
func (d *osDir) lock() (file, error) {
	if info, err := os.Stat(d.dir); err == nil && !info.IsDir() {
		return nil, errors.New("a file, want a folder")
	}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return nil, err
	}
	if err := syncFolder(filepath.Dir(filepath.Clean(d.dir))); err != nil {
		return nil, err
	}
	f, err := lockfile.Lock(d.path(lockName))
	if errors.Is(err, lockfile.ErrHeld) {
		return nil, fmt.Errorf("%w: %s is locked by %s; close that journal, or use another folder", ErrLocked, d.path(lockName), lockfile.Holder(d.path(lockName)))
	}
	if err != nil {
		return nil, err
	}
	if syncsFolders {
		if d.dirFile, err = os.Open(d.dir); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	d.locked = f
	return lockedDir{osFile{f}, d}, nil
}

func (d *osDir) held() error {
	if renameCloses {
		return nil // Windows cannot remove an open file
	}
	at, err := os.Stat(d.path(lockName))
	if errors.Is(err, fs.ErrNotExist) {
		return errLockLost
	}
	if err != nil {
		return err
	}
	is, err := d.locked.Stat()
	if err == nil && !os.SameFile(at, is) {
		err = errLockLost
	}
	return err
}

type lockedDir struct {
	osFile
	d *osDir
}

func (f lockedDir) Close() error {
	d := f.d
	d.mutex.Lock()
	defer d.mutex.Unlock()
	var err error
	if d.dirFile != nil {
		err = d.dirFile.Close()
	}
	d.dirFile = nil
	return errors.Join(err, f.osFile.Close())
}

type osFile struct{ *os.File }

func (f osFile) size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f osFile) sync() error { return syncData(f.File) }
