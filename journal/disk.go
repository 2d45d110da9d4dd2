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
	sync(name string) error // of the names in the folder, or in one within it
	lock() (file, error)    // of the whole folder, until the file is closed
	held() error            // errLockLost: the file is not the lock of the folder any more
}

// A file of a disk.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	size() (int64, error)
	sync() error // of the bytes, and of what it takes to read them back
}

// renameCloses says that a file must be closed to be renamed.
const renameCloses = runtime.GOOS == "windows"

// folder is a disk: a folder of the operating system.
type folder struct {
	dir string

	mutex   sync.Mutex
	locked  *os.File // nil: not locked
	dirFile *os.File // the folder, while it is locked, where the system syncs names
}

func newFolder(dir string) *folder { return &folder{dir: dir} }

func (d *folder) path(name string) string { return filepath.Join(d.dir, name) }

// list lists the files. It takes no file descriptor where the folder is open.
func (d *folder) list() ([]string, error) {
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

func (d *folder) entries() ([]fs.DirEntry, error) {
	if d.dirFile == nil {
		return os.ReadDir(d.dir)
	}
	if _, err := d.dirFile.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return d.dirFile.ReadDir(-1)
}

func (d *folder) create(name string) (file, error) {
	return d.openFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

func (d *folder) open(name string) (file, error) { return d.openFile(name, os.O_RDWR) }

func (d *folder) openFile(name string, flag int) (file, error) {
	f, err := os.OpenFile(d.path(name), flag, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (d *folder) rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d *folder) remove(name string) error {
	if err := os.Remove(d.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d *folder) mkdir(name string) error { return os.Mkdir(d.path(name), 0o700) }

func (d *folder) sync(name string) error {
	if name == "" && d.dirFile != nil {
		return d.dirFile.Sync()
	}
	return syncFolder(d.path(name))
}

// lock makes the folder if there is none, locks it, and holds it open, so that a
// segment can begin without a further file descriptor.
func (d *folder) lock() (file, error) {
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return nil, err
	}
	if err := syncFolder(filepath.Dir(filepath.Clean(d.dir))); err != nil {
		return nil, err
	}
	f, err := lockfile.Lock(d.path(lockName))
	if errors.Is(err, lockfile.ErrHeld) {
		return nil, fmt.Errorf("%w: %s", ErrLocked, d.path(lockName))
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
	return lockedFolder{osFile{f}, d}, nil
}

func (d *folder) held() error {
	if renameCloses {
		return nil // Windows removes no file that is open
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

// A lockedFolder is the lock file of a folder.
type lockedFolder struct {
	osFile
	d *folder
}

func (f lockedFolder) Close() error {
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
