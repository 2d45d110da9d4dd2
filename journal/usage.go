package journal

import (
	"errors"
	"io/fs"
)

// DiskBytes returns the sizes of the files in the folder: segments, snapshots, and the segment
// that is prepared next. It lists the folder.
func (j *Journal) DiskBytes() (n int64, err error) {
	names, err := j.o.disk.list()
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		size, _, err := j.o.disk.stat(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		n += size
	}
	return n, nil
}
