package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// A crashDisk is a disk in memory that knows, for each byte and each name, whether
// it would be there after a power failure: what was synced is, what was written
// since may be, sector by sector and name by name.
type crashDisk struct {
	files  map[string]*crashFile // as the running system sees them
	kept   map[string]*crashFile // as of the last sync of the names
	names  []nameChange          // since
	locked bool

	calls  int // that change something, so far
	stopAt int // the call that fails, and all after it; 0 none
	failAt int // the one call that fails; 0 none
}

// A nameChange is a name that came to be of a file, or of none.
type nameChange struct {
	name string
	file *crashFile
}

const sector = 512

// A crashFile is a file of a crashDisk.
type crashFile struct {
	disk  *crashDisk
	bytes []byte // as the running system sees it
	kept  []byte // as of the last sync
}

var (
	errNoPower = errors.New("the power is gone")
	errInput   = errors.New("input/output error")
)

func newCrashDisk() *crashDisk {
	return &crashDisk{files: map[string]*crashFile{}, kept: map[string]*crashFile{}}
}

// change counts a call that changes something, and says how it fails.
func (d *crashDisk) change() error {
	d.calls++
	switch {
	case d.stopAt > 0 && d.calls >= d.stopAt:
		return errNoPower
	case d.calls == d.failAt:
		return errInput
	}
	return nil
}

func (d *crashDisk) list() ([]string, error) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		if !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	return names, nil
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
	if err := d.change(); err != nil {
		return nil, err
	}
	f := &crashFile{disk: d}
	d.set(name, f)
	return f, nil
}

func (d *crashDisk) open(name string) (file, error) {
	if f := d.files[name]; f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

func (d *crashDisk) rename(from, to string) error {
	if err := d.change(); err != nil {
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
	if d.files[name] == nil {
		return nil
	}
	if err := d.change(); err != nil {
		return err
	}
	d.set(name, nil)
	return nil
}

func (d *crashDisk) mkdir(name string) error {
	for have := range d.files {
		if strings.HasPrefix(have, name+"/") {
			return fs.ErrExist
		}
	}
	return nil
}

func (d *crashDisk) sync() error {
	if err := d.change(); err != nil {
		return err
	}
	d.kept, d.names = maps.Clone(d.files), nil
	return nil
}

func (d *crashDisk) lock() (io.Closer, error) {
	if d.locked {
		return nil, ErrLocked
	}
	d.locked = true
	return unlocker{d}, nil
}

type unlocker struct{ d *crashDisk }

func (u unlocker) Close() error {
	u.d.locked = false
	return nil
}

func (f *crashFile) ReadAt(b []byte, offset int64) (int, error) {
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
	if err := f.disk.change(); err != nil {
		return 0, err
	}
	f.bytes = grown(f.bytes, int(offset)+len(b))
	return copy(f.bytes[offset:], b), nil
}

func grown(b []byte, n int) []byte {
	if n > len(b) {
		return append(b, make([]byte, n-len(b))...)
	}
	return b
}

func (f *crashFile) Close() error         { return nil }
func (f *crashFile) size() (int64, error) { return int64(len(f.bytes)), nil }

func (f *crashFile) sync() error {
	if err := f.disk.change(); err != nil {
		return err
	}
	f.kept = slices.Clone(f.bytes)
	return nil
}

// pending lists the sectors of f that differ from what a sync kept.
func (f *crashFile) pending() (sectors []int) {
	kept := grown(slices.Clone(f.kept), len(f.bytes))
	for at := 0; at < len(f.bytes); at += sector {
		end := min(at+sector, len(f.bytes))
		if at >= len(f.kept) || !slices.Equal(kept[at:end], f.bytes[at:end]) {
			sectors = append(sectors, at)
		}
	}
	return sectors
}

// choices is how many things a power failure decides: for each name that changed
// and each sector that was written whether it is kept.
func (d *crashDisk) choices() int {
	n := len(d.names)
	for _, f := range d.pendingFiles() {
		n += len(f.pending())
	}
	return n
}

// pendingFiles are all files that a name may lead to, in an order that does not
// change.
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

// afterPowerFailure returns what is found when the power comes back: choose says
// of each choice, by number, whether it was kept.
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
		b := slices.Clone(f.kept)
		for _, at := range f.pending() {
			if next() {
				end := min(at+sector, len(f.bytes))
				b = grown(b, end)
				copy(b[at:end], f.bytes[at:end])
			}
		}
		survivors[f] = &crashFile{disk: found, bytes: b, kept: slices.Clone(b)}
	}
	for name, f := range names {
		found.files[name] = survivors[f]
	}
	found.kept = maps.Clone(found.files)
	return found
}

// clone returns a disk with the same files, all synced.
func (d *crashDisk) clone() *crashDisk {
	found := newCrashDisk()
	for name, f := range d.files {
		found.files[name] = &crashFile{disk: found, bytes: slices.Clone(f.bytes), kept: slices.Clone(f.bytes)}
	}
	found.kept = maps.Clone(found.files)
	return found
}
