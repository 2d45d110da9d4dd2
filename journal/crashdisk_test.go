package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A crashDisk is a disk in memory. Synced bytes and names survive a power failure; later ones
// may, sector by sector and name by name. As on Linux, a failed sync marks its sectors clean:
// no later sync writes them.
type crashDisk struct {
	mu     sync.Mutex            // readers and a writer run concurrently
	files  map[string]*crashFile // as the system sees them
	kept   map[string]*crashFile // as of the last sync of the names
	names  []nameChange          // since then
	locked bool
	lost   bool      // the lock file was replaced
	now    time.Time // time of new files

	calls  int // number of changing calls
	stopAt int // this call and all later ones fail; 0: none
	failAt int // only this call fails; 0: none
	failed callKind

	opens int              // number of calls that need a descriptor
	full  func(n int) bool // reports whether call n fails; nil: none fails
}

type nameChange struct {
	name string
	file *crashFile
}

// A callKind is the kind of a change.
type callKind int

const (
	changesName callKind = 1 + iota
	changesFile
	syncs
)

const sector = 512

type crashFile struct {
	disk  *crashDisk
	bytes []byte       // as the system sees it
	kept  []byte       // as the disk has it
	dirty map[int]bool // sectors for the next sync, by offset

	changed time.Time
}

var (
	errNoPower  = errors.New("the power is gone")
	errInput    = errors.New("input/output error")
	errNoneFree = fmt.Errorf("open: %w", syscall.EMFILE)
)

func newCrashDisk() *crashDisk {
	return &crashDisk{files: map[string]*crashFile{}, kept: map[string]*crashFile{}}
}

func (d *crashDisk) change(kind callKind) error {
	d.calls++
	switch {
	case d.stopAt > 0 && d.calls >= d.stopAt:
		return errNoPower
	case d.calls == d.failAt:
		d.failed = kind
		return errInput
	}
	return nil
}

func (d *crashDisk) take() error {
	if d.opens++; d.full != nil && d.full(d.opens) {
		return errNoneFree
	}
	return nil
}

func (d *crashDisk) list() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		if !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	return names, nil
}

func (d *crashDisk) stat(name string) (bytes int64, changed time.Time, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.files[name]; f != nil {
		return int64(len(f.bytes)), f.changed, nil
	}
	return 0, time.Time{}, fs.ErrNotExist
}

func (d *crashDisk) set(name string, f *crashFile) {
	d.names = append(d.names, nameChange{name, f})
	if f == nil {
		delete(d.files, name)
	} else {
		d.files[name] = f
	}
}

func (d *crashDisk) create(name string) (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.take(); err != nil {
		return nil, err
	}
	return d.make(name)
}

func (d *crashDisk) make(name string) (file, error) {
	if err := d.change(changesName); err != nil {
		return nil, err
	}
	f := d.newFile(nil)
	d.set(name, f)
	return f, nil
}

func (d *crashDisk) open(name string) (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.take(); err != nil {
		return nil, err
	}
	if f := d.files[name]; f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

func (d *crashDisk) rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.change(changesName); err != nil {
		return err
	}
	f := d.files[from]
	if f == nil {
		return fmt.Errorf("%s: %w", from, fs.ErrNotExist)
	}
	d.set(to, f)
	d.set(from, nil)
	return nil
}

func (d *crashDisk) remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.files[name] == nil {
		return nil
	}
	if err := d.change(changesName); err != nil {
		return err
	}
	d.set(name, nil)
	return nil
}

func (d *crashDisk) mkdir(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for have := range d.files {
		if strings.HasPrefix(have, name+"/") {
			return fs.ErrExist
		}
	}
	return nil
}

func (d *crashDisk) sync(folder string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.change(syncs); err != nil {
		return err
	}
	var others []nameChange
	for _, c := range d.names {
		switch in, _, _ := strings.Cut(c.name, "/"); {
		case in == c.name && folder != "" || in != c.name && folder != in:
			others = append(others, c)
		case c.file == nil:
			delete(d.kept, c.name)
		default:
			d.kept[c.name] = c.file
		}
	}
	d.names = others
	return nil
}

func (d *crashDisk) lock() (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locked {
		return nil, ErrLocked
	}
	if d.files[lockName] == nil {
		if _, err := d.make(lockName); err != nil {
			return nil, err
		}
	}
	d.locked = true
	return locker{d.files[lockName]}, nil
}

func (d *crashDisk) held() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost {
		return errLockLost
	}
	return nil
}

type locker struct{ *crashFile }

func (l locker) Close() error {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	l.disk.locked = false
	return nil
}

func (f *crashFile) ReadAt(b []byte, offset int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if offset >= int64(len(f.bytes)) {
		return 0, io.EOF
	}
	n := copy(b, f.bytes[offset:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *crashFile) WriteAt(b []byte, offset int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.change(changesFile); err != nil {
		return 0, err
	}
	from := min(int(offset), len(f.bytes))
	f.bytes = grown(f.bytes, int(offset)+len(b))
	for at := from / sector * sector; at < int(offset)+len(b); at += sector {
		f.dirty[at] = true
	}
	return copy(f.bytes[offset:], b), nil
}

func grown(b []byte, n int) []byte {
	if n > len(b) {
		return append(b, make([]byte, n-len(b))...)
	}
	return b
}

func (f *crashFile) Close() error { return nil }

func (f *crashFile) size() (int64, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return int64(len(f.bytes)), nil
}

func (f *crashFile) sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	err := f.disk.change(syncs)
	if err == nil {
		f.kept = f.written(func(int) bool { return true })
	}
	if err != errNoPower {
		clear(f.dirty)
	}
	return err
}

func (f *crashFile) pending() (sectors []int) {
	for _, at := range slices.Sorted(maps.Keys(f.dirty)) {
		end := min(at+sector, len(f.bytes))
		if end > len(f.kept) || !slices.Equal(f.kept[at:end], f.bytes[at:end]) {
			sectors = append(sectors, at)
		}
	}
	return sectors
}

func (f *crashFile) written(keep func(at int) bool) []byte {
	b := slices.Clone(f.kept)
	for _, at := range f.pending() {
		if keep(at) {
			end := min(at+sector, len(f.bytes))
			b = grown(b, end)
			copy(b[at:end], f.bytes[at:end])
		}
	}
	return b
}

func (d *crashDisk) newFile(b []byte) *crashFile {
	return &crashFile{disk: d, bytes: slices.Clone(b), kept: slices.Clone(b), dirty: map[int]bool{}, changed: d.now}
}

func (d *crashDisk) choices() int {
	n := len(d.names)
	for _, f := range d.pendingFiles() {
		n += len(f.pending())
	}
	return n
}

func (d *crashDisk) pendingFiles() (files []*crashFile) {
	add := func(f *crashFile) {
		if f != nil && !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	for _, m := range []map[string]*crashFile{d.kept, d.files} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			add(m[name])
		}
	}
	for _, c := range d.names {
		add(c.file)
	}
	return files
}

func (d *crashDisk) afterPowerFailure(choose func(i int) bool) *crashDisk {
	found := newCrashDisk()
	names := maps.Clone(d.kept)
	i := 0
	next := func() bool {
		i++
		return choose(i - 1)
	}
	for _, c := range d.names {
		if !next() {
			continue
		}
		if c.file == nil {
			delete(names, c.name)
		} else {
			names[c.name] = c.file
		}
	}
	survivors := map[*crashFile]*crashFile{}
	for _, f := range d.pendingFiles() {
		survivors[f] = found.newFile(f.written(func(int) bool { return next() }))
	}
	for name, f := range names {
		found.files[name] = survivors[f]
	}
	found.kept = maps.Clone(found.files)
	return found
}

func (d *crashDisk) clone() *crashDisk {
	found := newCrashDisk()
	for name, f := range d.files {
		found.files[name] = found.newFile(f.bytes)
		found.files[name].changed = f.changed
	}
	found.kept = maps.Clone(found.files)
	return found
}

// restart ends the process, but not the system.
func (d *crashDisk) restart() { d.stopAt, d.failAt, d.locked = 0, 0, false }
